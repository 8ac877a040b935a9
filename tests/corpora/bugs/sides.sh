#!/bin/sh
# sides.sh [--device host|cuda] [--count N] [--seed S] [--spread] [--twins] [NAME..]: does each fault fail inside its `when`, and pass outside?
# It runs N configurations (3) of either side, cheap ones, out of 1500 draws. With --spread they have all sizes, which finds a
# wrong threshold. A fault whose `side` is necessary must fail on one of 5 N inside only. A sufficient one may fail outside.
# --twins: the honest twins of the later collections, which may fail on neither side. Prints a line for each exception, with the
# configurations; exits 1 when there is one. BUILD is the folder of the binaries.
set -eu
folder=$(dirname "$0")
build=${BUILD:-$folder/../../../build}
count=3
seed=1
device=host
twins=
part=4 # of the cheapest, a quarter
while [ $# -gt 0 ]; do
    case $1 in
    --count) count=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --spread) part=1; shift ;;
    --twins) twins=.good; shift ;;
    -*) echo "sides.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
case $device in
host) suffix=c table=$folder/BUGS.tsv ;;
cuda) suffix=cu table=$folder/CUDA.tsv ;;
*) echo "sides.sh: --device $device: host or cuda is expected" >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- $(awk -F'\t' -v twins="$twins" 'NR > 1 && (twins == "" || $6 >= 2) { print $1 }' "$table")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tag() { # file, name
    sed -n "s|^// $2: ||p" "$1" | head -1
}

# The product of a line's numbers without the seed: roughly its cost.
cheap_first() {
    awk '{ cost = 1; for (i = 2; i <= NF; i++) { split($i, a, "="); if (a[1] != "seed" && a[2] + 0 > 1) cost *= a[2] }
           printf "%.0f %s\n", cost, $0 }' | sort -n | cut -d' ' -f2-
}

# Every k-th of the cheapest part (at least 40), so that they differ.
pick() { # digit, how many
    grep "^$1 " "$work/split" | cut -d' ' -f2- >"$work/side" || true
    lines=$(wc -l <"$work/side")
    take=$((lines / part))
    [ $take -ge 40 ] || take=40
    [ $take -le $lines ] || take=$lines
    head -n $take "$work/side" | awk -v n=$2 -v all=$take 'BEGIN { step = all > n ? all / n : 1 }
        NR - 1 >= next_one { print; next_one += step }' | head -n $2
}

status=0
for name in "$@"; do
    file=$folder/$name.$suffix
    problem=$(tag "$file" problem)
    when=$(tag "$file" when)
    side=$(tag "$file" side)
    [ -n "$when" ] || continue
    built=$folder/$name$twins.$suffix
    [ $suffix = c ] || { built=$work/$name.so; nvcc -O3 -std=c++17 -arch=native -Xcompiler -fPIC -shared "$folder/$name$twins.$suffix" -o "$built"; }
    [ -e "$work/$problem" ] || "$build/unseen" draw "$problem" --device "$device" --unseen 1500 --seed "$seed" 2>/dev/null |
        sed 's/ *#.*//' >"$work/$problem"
    "$build/unseen-agree" "$problem" "$when" <"$work/$problem" | cheap_first >"$work/split"
    for inside in 1 0; do
        wanted=$count
        [ "$side$inside" != necessary1 ] && [ "$side$inside" != sufficient0 ] || wanted=$((count * 5))
        pick $inside $wanted >"$work/picked"
        passes=0
        fails=0
        broken=0
        shown=
        while read -r config; do
            got=0
            "$build/unseen" check "$problem" "$built" "$config" --device "$device" --no-lock -q </dev/null >"$work/out" 2>&1 || got=$?
            case $got in
            0) passes=$((passes + 1)); [ $inside = 0 ] || [ -n "$twins" ] || shown="$shown
    passes: $config" ;;
            1) fails=$((fails + 1)); [ $inside$twins = 1 ] || shown="$shown
    fails: $config" ;;
            *) shown="$shown
    status $got: $config: $(head -1 "$work/out")"; broken=1 ;;
            esac
        done <"$work/picked"
        bad=0
        if [ $broken = 1 ] || [ $((passes + fails)) = 0 ]; then bad=1
        elif [ -n "$twins" ]; then [ $fails = 0 ] || bad=1
        elif [ $inside = 1 ] && [ "$side" = necessary ]; then [ $fails -gt 0 ] || bad=1
        elif [ $inside = 1 ]; then [ $passes = 0 ] || bad=1
        elif [ "$side" != sufficient ]; then [ $fails = 0 ] || bad=1
        fi
        [ $bad = 0 ] || { status=1; echo "$name: $([ $inside = 1 ] && echo inside || echo outside) '$when': $fails fail, $passes pass$shown"; }
    done
done
exit $status
