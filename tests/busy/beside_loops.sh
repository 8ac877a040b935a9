#!/bin/sh
# The same candidate and seed on the idle machine and beside busy loops: everything in the report but times must be the same.
#
#   tests/busy/beside_loops.sh BUILD CANDIDATE...
#
# From the repository's root. The problem is in a candidate's first lines (// problem: softmax). It compares the verdict, the rule with
# its counts or the reason for its absence, the smallest configuration, the deciding values, and the outcome of every configuration.
# Prints a line for each candidate, and one for all. Set in the environment:
#   LOOPS=6      busy loops
#   DEVICE=host
#   EFFORT=quick SEED=1
#   MORE=        more options of verify
# Exit status 1 when one differs, 2 when a run gave no result.
set -u

build=${1:?usage: tests/busy/beside_loops.sh BUILD CANDIDATE...}
shift
[ $# -gt 0 ] || { sed -n '4p' "$0" >&2; exit 2; }
LOOPS=${LOOPS:-6} DEVICE=${DEVICE:-host} EFFORT=${EFFORT:-quick} SEED=${SEED:-1}
folder=$(mktemp -d) || exit 2
loops=
quiet() {
    for loop in $loops; do kill "$loop" 2>/dev/null; done
    loops=
}
trap 'quiet; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

busy() {
    while [ "$(echo $loops | wc -w)" -lt "$LOOPS" ]; do
        sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
}

# one PROBLEM CANDIDATE NAME: prints seconds; writes the parts to compare to FOLDER/NAME
one() {
    started=$(date +%s)
    "$build/unseen" verify "$1" "$2" --device "$DEVICE" --effort "$EFFORT" --seed "$SEED" --json "$folder/$3.json" -q --no-lock \
        ${MORE:-} >/dev/null 2>"$folder/$3.errors"
    echo $(($(date +%s) - started))
    [ -s "$folder/$3.json" ] || { cat "$folder/$3.errors" >&2; exit 2; }
    grep -E '^ *"(verdict|outcome|config|minimal|no_rule|text|fails|inside|passes|outside|places|values|special|locally_minimal|late)":' \
        "$folder/$3.json" >"$folder/$3"
}

same=0 all=0
for candidate in "$@"; do
    problem=$(sed -n 's|^// problem: *||p' "$candidate" | head -1)
    [ -n "$problem" ] || { echo "$candidate: no line '// problem: NAME'" >&2; exit 2; }
    alone=$(one "$problem" "$candidate" alone) || exit 2
    busy
    beside=$(one "$problem" "$candidate" beside) || exit 2
    quiet
    all=$((all + 1))
    said=differs
    cmp -s "$folder/alone" "$folder/beside" && said=same same=$((same + 1))
    printf '%-8s %-60s %-12s %4s s %4s s\n' $said "$candidate" "$(sed -n 's/^ "verdict": "\(.*\)",$/\1/p' "$folder/alone.json")" \
        "$alone" "$beside"
    [ $said = same ] || diff "$folder/alone" "$folder/beside" | head -8
done
echo "$same of $all say the same alone and beside $LOOPS busy loops"
[ $same = $all ]
