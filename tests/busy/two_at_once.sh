#!/bin/sh
# two_at_once.sh BUILD [ROUNDS] [UNSEEN]: two verdicts at once against the same two one after another, on the host. The least
# of ROUNDS (5) rounds each, since a neighbour makes either longer and neither shorter. Exits 1 above 1.15 times.
# PAIRS: other candidates, PROBLEM:FILE each. For an idle machine.
build=${1:?build folder} rounds=${2:-5} unseen=${3:-40}
root=$(dirname "$0")/../..
cd "$root" || exit 3
now() { date +%s.%N; }
verify() { # a verdict, of whatever kind
    "$build/unseen" verify "$1" "$2" --device host --unseen "$unseen" --no-timing --seed 5 -q >/dev/null
    [ $? -le 1 ] || kill $$
}
least() { awk -v a="$1" -v b="$2" -v least="$3" 'BEGIN { d = b - a; print (least == "" || d < least) ? d : least }'; }

failed=0
for pair in ${PAIRS:-softmax:problems/softmax/baseline.c gemm_f32:problems/gemm_f32/baseline.c \
    softmax:problems/softmax/bad/shape_table.c}; do
    problem=${pair%%:*} kernel=${pair#*:} after="" together=""
    for round in $(seq "$rounds"); do
        t0=$(now)
        verify "$problem" "$kernel"
        verify "$problem" "$kernel"
        t1=$(now)
        verify "$problem" "$kernel" &
        verify "$problem" "$kernel" &
        wait
        t2=$(now)
        after=$(least "$t0" "$t1" "$after") together=$(least "$t1" "$t2" "$together")
    done
    awk -v kernel="$kernel" -v after="$after" -v together="$together" 'BEGIN {
        printf "%-36s one after another %6.2f s, at once %6.2f s: %.2f times\n", kernel, after, together, together / after
        exit together / after > 1.15
    }' || failed=1
done
exit $failed
