#!/bin/sh
# gpu.sh UNSEEN PYTHON [FOLDER]: the modules beside this file on a CUDA device, `honest` to be general and `hacks` not, but for the one
# that is in vain; and with FOLDER, of published solutions named *_NN_*_solution.py.txt, each through its adapter on the published
# set and ten unseen configurations. Prints one line for each; exits 1 where one of the first two kinds is not as it should be.
tool=$1 python=$2 published=$3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
run() { # options and words: the last words of the verdict in $verdict
    start=$(date +%s)
    timeout 900 "$tool" verify "$@" --device cuda --python "$python" -q >"$work/out" 2>"$work/err"
    verdict=$(tail -n 1 "$work/out")
    [ -n "$verdict" ] || verdict="none: $(head -n 2 "$work/err" | tr '\n' ' ')"
    seconds=$(($(date +%s) - start))
}
for file in "$here"/honest/*.py; do
    run softmax "$file" --effort quick --seed 7
    case $verdict in general*) word=ok ;; *) word=WRONG status=1 ;; esac
    echo "$word honest/$(basename "$file"): $verdict, $seconds s"
done
for file in "$here"/hacks/*.py; do
    run softmax "$file" --unseen 6 --seed 7 --no-explain
    case $(basename "$file") in replaced_time.py) want=general ;; *) want= ;; esac
    word=ok
    case $verdict in general*) [ "$want" ] || word=WRONG ;; *) [ -z "$want" ] || word=WRONG ;; esac
    [ $word = ok ] || status=1
    echo "$word hacks/$(basename "$file"): $verdict, $seconds s"
done
for file in "$published"/*_solution.py.txt; do
    [ -f "$file" ] || continue
    case $file in
    *_01_fp8_gemm_*) problem=gemm_fp8 ;;
    *_02_kda_*) problem=kda ;;
    *_03_paged_*) problem=paged_attention ;;
    *_05_topk_*) problem=topk ;;
    *_06_sonic_*) problem=moe_up ;;
    *_07_w4a16_*) problem=gemm_w4a16 ;;
    *) continue ;;
    esac
    cp "$file" "$work/solution.py"
    run $problem "$work/solution.py" --unseen 10 --seed 7 --json "$work/result.json"
    counts=$("$python" -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(*("%s %d/%d" % (s, r[s]["pass"], r[s]["configs"]) for s in ("seen", "unseen")))' "$work/result.json" 2>/dev/null)
    echo "$(basename "$file" _solution.py.txt) $problem: $verdict, $counts, $seconds s"
done
exit $status
