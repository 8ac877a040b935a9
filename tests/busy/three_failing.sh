#!/bin/sh
# Three failing kernels at once against the same three one after another: at once they may take 1.3 times as long at most.
# They share the cores, on which MPFR evaluates every failure.
#
#   tests/busy/three_failing.sh BUILD [PROBLEM CANDIDATE]
#
# From the repository's root; without a candidate a kda that resets its state. Set in the environment:
#   LIMIT=400    seconds for all of it
#   DEVICE=      host or cuda (default: cuda where there is one)
#   EFFORT=quick
#   MORE=        more options of verify
# Exit status 1 when they take longer than that, 2 when a run ended otherwise than by a verdict of failure.
set -u

build=${1:?usage: tests/busy/three_failing.sh BUILD [PROBLEM CANDIDATE]}
LIMIT=${LIMIT:-400} EFFORT=${EFFORT:-quick}
if [ -z "${DEVICE:-}" ]; then
    DEVICE=host
    "$build/unseen" peak --device cuda >/dev/null 2>&1 && DEVICE=cuda
fi
suffix=c
[ "$DEVICE" = host ] || suffix=cu
problem=${2:-kda} candidate=${3:-$build/faults/kda/state_reset_every_chunk.$suffix}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
deadline=$(($(date +%s) + LIMIT))

# one NAME SEED: status, seconds of the whole and of compiling to FOLDER/NAME
one() {
    left=$((deadline - $(date +%s)))
    [ "$left" -gt 0 ] || { echo "124 0 0" >"$folder/$1"; return; }
    started=$(date +%s.%N)
    timeout -s INT -k 20 "$left" "$build/unseen" verify "$problem" "$candidate" --device "$DEVICE" --effort "$EFFORT" \
        --seed "$2" --json "$folder/$1.json" -q ${MORE:-} >/dev/null 2>&1
    status=$?
    compiling=$(awk '$1 == "\"build_seconds\":" {print $2 + 0}' "$folder/$1.json" 2>/dev/null)
    echo "$status $(echo "$started $(date +%s.%N)" | awk '{print $2 - $1}') ${compiling:-0}" >"$folder/$1"
}

one warm 0 # the compiler's and the driver's caches
times >"$folder/times0" # of the children: user and system, in its second line
begin=$(date +%s.%N)
for i in 1 2 3; do one "after$i" $i; done
middle=$(date +%s.%N)
times >"$folder/times1"
for i in 1 2 3; do one "beside$i" $i & done
wait
end=$(date +%s.%N)
times >"$folder/times2"

# CPU seconds between two of them
cpu() {
    cat "$folder/times$1" "$folder/times$2" | awk '
        function seconds(text, part) { split(text, part, "[ms]"); return 60 * part[1] + part[2] }
        NR == 2 { first = seconds($1) + seconds($2) }
        NR == 4 { print seconds($1) + seconds($2) - first }'
}

for i in after1 after2 after3 beside1 beside2 beside3; do echo "$i $(cat "$folder/$i")"; done |
    awk -v cpu_after="$(cpu 0 1)" -v cpu_beside="$(cpu 1 2)" -v begin="$begin" -v middle="$middle" -v end="$end" -v what="$candidate on $DEVICE" '
    { line[$1] = sprintf("%6.1f s (%.1f s of it compiling)", $3, $4); bad += $2 != 1 }
    END {
        print what
        for (i = 1; i <= 3; i++) printf "  seed %d  alone %s   beside two others %s\n", i, line["after" i], line["beside" i]
        printf "  one after another %.1f s, at once %.1f s: %.2f times\n", middle - begin, end - middle,
               (end - middle) / (middle - begin)
        printf "  CPU time: one after another %.1f s, at once %.1f s: %.2f times\n", cpu_after, cpu_beside,
               cpu_beside / cpu_after
        if (bad) { printf "  %d runs did not end with a failing verdict\n", bad; exit 2 }
        exit (end - middle) / (middle - begin) > 1.3
    }'
