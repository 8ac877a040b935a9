#!/bin/sh
# run.sh SECONDS [TARGET...]: fuzzes each target (all without names) for so long, one at a time; run from the top of the tree
# after `make fuzz`. Begins with the inputs of tests/corpora/fuzz/TARGET.txt (corpus.py has the format). New inputs stay in
# build/fuzz/found/TARGET, and inputs that crash in build/fuzz/crashed. Prints executions and coverage of each, and exits 1 where
# one crashed.
#
# run.sh --keep [TARGET...]: reduces the stored and the new inputs to the fewest bytes with the same coverage, and stores them.
# Inputs whose names begin with crashed- stay.
#
# run.sh --add FILE TARGET: stores one input, for example one that crashed, under the name crashed-HASH.
set -u
cd "$(dirname "$0")/../.." || exit 3
usage="run.sh SECONDS|--keep [TARGET...], run.sh --add FILE TARGET"
seconds=${1:?"$usage"}
shift
pack() { python3 tests/fuzz/corpus.py "$@" || exit 3; }
if [ "$seconds" = --add ]; then
    file=${1:?"$usage"} stored=tests/corpora/fuzz/${2:?"$usage"}.txt
    [ -f "$file" ] && [ -f "$stored" ] || { echo "found no $file or no $stored; expected $usage" >&2; exit 3; }
    corpus=$(mktemp -d)
    pack unpack "$stored" "$corpus"
    cp "$file" "$corpus/crashed-$(sha1sum "$file" | cut -c1-8)"
    pack pack "$corpus" "$stored"
    rm -rf "$corpus"
    exit 0
fi
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's|.*/fuzz_||; s|\.c$||')
status=0
for target; do
    # From the root: the runner's side goes to / before a call.
    run=$PWD/build/fuzz/$target corpus=$PWD/build/fuzz/corpus/$target found=$PWD/build/fuzz/found/$target
    stored=tests/corpora/fuzz/$target.txt
    [ -x "$run" ] || { echo "there is no $run; expected what make fuzz builds" >&2; echo "---> make fuzz" >&2; exit 3; }
    rm -rf "$corpus"
    mkdir -p "$corpus" "$found" build/fuzz/crashed
    [ ! -f "$stored" ] || pack unpack "$stored" "$corpus"
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
        pack pack "$corpus" "$stored"
        echo "$target: $(wc -l <"$stored") inputs, $(cat "$corpus"/* 2>/dev/null | wc -c) bytes"
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
