#!/bin/sh
# run.sh SECONDS [TARGET...]: fuzzes each target (all without names) for so long, one at a time; run from the top of the tree
# after `make fuzz`. Begins with tests/fuzz/corpus/TARGET. New inputs stay in build/fuzz/found/TARGET, and inputs that crash in
# build/fuzz/crashed. Prints executions and coverage of each, and exits 1 where one crashed.
#
# run.sh --keep [TARGET...]: reduces the inputs to the fewest bytes with the same coverage, in tests/fuzz/corpus/TARGET. Inputs that
# crash stay there.
set -u
cd "$(dirname "$0")/../.." || exit 3
seconds=${1:?"run.sh SECONDS [TARGET...]"}
shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's|.*/fuzz_||; s|\.c$||')
status=0
for target; do
    # From the root: the runner's side goes to / before a call.
    run=$PWD/build/fuzz/$target corpus=$PWD/tests/fuzz/corpus/$target found=$PWD/build/fuzz/found/$target
    [ -x "$run" ] || { echo "there is no $run; expected what make fuzz builds" >&2; echo "---> make fuzz" >&2; exit 3; }
    mkdir -p "$corpus" "$found" build/fuzz/crashed
    if [ "$seconds" = --keep ]; then
        kept=$(mktemp -d)
        "$run" -set_cover_merge=1 -timeout=10 -max_len=4000 "$kept" "$corpus" "$found" >/dev/null 2>&1 || status=1
        find "$corpus" -type f ! -name 'crashed-*' -delete
        # Evenly over all sizes, until its space is full.
        step=$(($(cat "$kept"/* | wc -c) / ${KEEP:-7000} + 1)) number=0
        for file in $(ls -S "$kept"); do
            number=$((number + 1))
            [ $((number % step)) != 0 ] || cp "$kept/$file" "$corpus/$(printf %.12s "$file")"
        done
        rm -rf "$kept"
        echo "$target: $(ls "$corpus" | wc -l) files, $(cat "$corpus"/* 2>/dev/null | wc -c) bytes"
        continue
    fi
    log=build/fuzz/$target.log
    export ASAN_OPTIONS="abort_on_error=1:allocator_may_return_null=1" UBSAN_OPTIONS="print_stacktrace=1"
    nice -n 10 "$run" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$PWD/build/fuzz/crashed/$target-" ${DICT:+-dict=$DICT} "$found" "$corpus" >"$log" 2>&1
    ended=$?
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1) executions in $seconds s," \
        "coverage $(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -1) edges," \
        "$(ls "$found" | wc -l) inputs found$([ $ended = 0 ] || echo ", CRASHED: see $log")"
    [ $ended = 0 ] || status=1
done
exit $status
