#!/bin/sh
# Three real candidates of different verdicts: general, specialized, limited. $1 is the tool. On the host
# back end, or with CUDA candidates where there is a GPU.
set -u
unseen=$1
if "$unseen" peak --device cuda >/dev/null 2>&1; then suffix=cu device=cuda; else suffix=c device=host; fi

try() {
    expected=$1 file=$2
    printf '\n$ %s verify softmax %s --device %s --effort quick\n' "$unseen" "$file" "$device"
    "$unseen" verify softmax "$file" --device "$device" --effort quick --seed 2026
    status=$?
    if [ "$expected" = general ] && [ $status -ne 0 ] || [ "$expected" != general ] && [ $status -ne 1 ]; then
        echo "demo: expected the verdict $expected; the tool's exit status was $status" >&2
        exit 3
    fi
}

try general problems/softmax/baseline.$suffix
try specialized problems/softmax/bad/shape_table.$suffix
try limited problems/softmax/bad/refuses_odd.$suffix
printf '\ndemo: one candidate general, one specialized, one limited, as they should be\n'
