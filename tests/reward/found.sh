#!/bin/sh
# found.sh [EVERY] [FIRST]: the cost and the findings of a setting of `unseen verify`, for doc/results/training.md. Every EVERYth kernel, from
# the FIRST on, on the host: wrong ones (build/faults, problems/*/bad, tests/corpora/bugs) and right ones (problems/*/honest, baselines).
# In the environment: OPTIONS (--effort reward), SEED (1), KINDS (wrong|bug|right), KEEP=FILE for one line a kernel. The line has
# kind, problem, reward, seconds, user seconds, path. Never a test of `make check`: it takes an hour.
set -u
every=${1:-1} first=${2:-1}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
unseen=${UNSEEN:-$root/build/unseen}
options=${OPTIONS:---effort reward}
room=$(mktemp -d) || exit 3
trap 'rm -rf "$room"' EXIT
trap 'exit 130' INT TERM
keep=${KEEP:-$room/lines}
: >"$keep"

wrong() {
    cd "$root" || exit 3
    grep -lE '^// verdict: (specialized|broken|limited)' build/faults/*/*.c problems/*/bad/*.c | sed 's/^/wrong /'
    cut -f1 tests/corpora/bugs/BUGS.tsv | sed -n '2,$s|.*|tests/corpora/bugs/&.c|p' | while read -r path; do
        [ -f "$path" ] && echo "bug $path"
    done
}

right() {
    cd "$root" || exit 3
    ls problems/*/baseline.c problems/*/honest/*.c | sed 's/^/right /'
}

{ wrong; right; } | grep -E "^(${KINDS:-wrong|bug|right}) " | awk -v every="$every" -v first="$first" 'NR >= first && (NR - first) % every == 0' >"$room/kernels"
while read -r kind path; do
    problem=$(sed -n 's|^// problem: *||p' "$root/$path" | head -1)
    [ -n "$problem" ] || problem=$(echo "$path" | cut -d/ -f2)
    # shellcheck disable=SC2086
    bash -c 'TIMEFORMAT="%R %U"; time "$@" 2>/dev/null >"$0"' "$room/reward" "$unseen" verify "$problem" "$root/$path" --device host \
        --seed "${SEED:-1}" $options --reward pass_rate 2>"$room/time" </dev/null
    echo "$kind $problem $(cut -d' ' -f1 "$room/reward") $(cat "$room/time") $path" >>"$keep"
done <"$room/kernels"

awk '{
    n[$1]++; full[$1] += $3 == "1"; none[$1] += $3 !~ /^[0-9.]/
    wall[$1] += $4; user[$1] += $5
} END {
    for (kind in n)
        printf "%s: %d kernels, %d with the full reward, %d without a number; %.2f s a verdict, %.2f s of user time\n",
               kind, n[kind], full[kind], none[kind], wall[kind] / n[kind], user[kind] / n[kind]
}' "$keep" | sort
