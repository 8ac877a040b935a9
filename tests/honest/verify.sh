#!/bin/sh
# The whole verdict on honest settings: `unseen verify` on a program with switches, compiled once for each problem and linked with
# one setting after another. Every line must say general; exit 1 where one does not. Programs with switches are slow, so the limit
# of a call is ten minutes.
#
#     sh tests/honest/verify.sh build softmax host 64 2      # BUILD PROBLEM|all DEVICE SETTINGS AT_ONCE
set -u
build=$1 problems=$2 device=$3 count=$4 parallel=$5
[ "$problems" = all ] && problems=$(sed -n 's/^PROBLEM(\([a-z0-9_]*\)).*/\1/p' problems/registry.def)
work=$(mktemp -d)
failed=0
: > "$work/log"

# The results so far, also when the time is over.
report() {
    grep BAD "$work/log" && failed=1
    for problem in $problems; do
        echo "$problem on $device: $(grep -c "^  ok   $problem " "$work/log") of $count settings general"
    done
    rm -rf "$work"
}
trap 'report; exit $failed' EXIT
trap 'exit 1' TERM INT

# $1: problem. Its program as an object, with the flags of candidates.
compile() {
    if [ "$device" = host ]; then
        cc -std=gnu11 -O2 -march=native -fPIC -fopenmp -c "tests/honest/$1.c" -o "$work/$1.o"
    else
        arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
        case $arch in 9*|1*) arch=${arch}a ;; esac
        nvcc -O3 -std=c++17 "-gencode=arch=compute_$arch,code=sm_$arch" -Xcompiler -fPIC -c "tests/honest/$1.cu" \
            -o "$work/$1.o"
    fi
}

# $1: problem, $2: number of the setting, $3: the setting. One line: its verdict.
cat > "$work/one.sh" <<'ONE'
problem=$1 number=$2 setting=$3 build=$4 device=$5 work=$6
name=$work/$problem-$number
printf 'const char honest_linked_setting[] = "%s";\n' "$setting" > "$name.c"
cc -fPIC -c "$name.c" -o "$name.o"
if [ "$device" = host ]; then cc -shared -fopenmp -o "$name.so" "$work/$problem.o" "$name.o" -lm
else g++ -shared -o "$name.so" "$work/$problem.o" "$name.o" -L"${CUDA_HOME:-/usr/local/cuda}/lib64" -lcudart_static \
    -ldl -lrt -lpthread
fi
verdict=$(OMP_NUM_THREADS=1 "$build/unseen" verify "$problem" "$name.so" --device "$device" --effort quick --no-timing \
    --no-explain --timeout 600 --seed "$((1000 + number))" --json "$name.json" 2>&1 | grep -E '^[a-z]+: ' | head -1)
case $verdict in
    general:*) echo "  ok   $problem $setting" ;;
    *) echo "  BAD  $problem seed $((1000 + number)): $setting: $verdict" $(grep -o '"outcome": *"[a-z]*"' "$name.json" |
        cut -d'"' -f4 | sort | uniq -c) ;;
esac >> "$work/log"
rm -f "$name".*
ONE

for problem in $problems; do
    compile "$problem" &
done
wait
for problem in $problems; do
    "$build/unseen-margins" "$problem" --device "$device" --print "$count" > "$work/settings"
    number=0
    while read -r setting; do
        printf '%s\t%s\t%s\n' "$number" "$problem" "$setting"
        number=$((number + 1))
    done < "$work/settings"
done | sort -s -n -k1,1 > "$work/all" # a setting of every problem, then the next of every problem
[ -s "$work/all" ] || exit 1
tab=$(printf '\t')
while IFS="$tab" read -r number problem setting; do
    printf '%s\0%s\0%s\0%s\0%s\0%s\0' "$problem" "$number" "$setting" "$build" "$device" "$work"
done < "$work/all" | xargs -0 -n 6 -P "$parallel" sh "$work/one.sh" &
wait $!
[ "$(grep -c ' ok ' "$work/log")" = "$(wc -l < "$work/all")" ] || failed=1
