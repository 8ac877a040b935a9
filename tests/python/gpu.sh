#!/bin/sh
# gpu.sh UNSEEN PYTHON [--published FOLDER] [--jobs N] [--gpus N] [--limit SECONDS] [--out FOLDER] [-- OPTION..]: the modules beside this file on a
# CUDA device. `honest` must be general, and `hacks` must not, except for the one in vain. With --published it takes solutions
# named *_NN_*_solution.py.txt, each through its adapter on the published set and ten unseen configurations, with verify's OPTIONs.
# N run at once (1), on the first N GPUs in turn (1), each for SECONDS (900) at most. Prints a line for each as it ends. Results
# that are in --out are not run again, so that an interrupted run goes on. Exits 1 where a module of ours has a wrong verdict.
tool=$1 python=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
jobs=1 gpus=1 limit=900 published= out=
while [ $# -gt 0 ]; do
    case $1 in
    --published) published=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --gpus) gpus=$2 && shift 2 ;;
    --limit) limit=$2 && shift 2 ;;
    --out) out=$2 && shift 2 ;;
    --) shift && break ;;
    *) echo "gpu.sh: found $1; expected --published, --jobs, --gpus, --limit, --out or --" >&2 && exit 2 ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work}
mkdir -p "$out" || exit 3

cat >"$work/one" <<'END'
# one FILE PROBLEM NAME OPTION..: the result in $out/NAME.json, the output in $out/NAME.txt; a line when it is over
file=$1 problem=$2 name=$3
shift 3
[ -e "$out/$name.done" ] && exit 0
mkdir -p "$work/$name" && cp "$file" "$work/$name/solution.py"
[ "$gpus" = 1 ] || export CUDA_VISIBLE_DEVICES=$((SLOT % gpus))
start=$(date +%s)
timeout -s INT "$limit" "$tool" verify "$problem" "$work/$name/solution.py" --device cuda --python "$python" \
    --json "$out/$name.json" "$@" >"$out/$name.txt" 2>&1
status=$?
[ $status -gt 2 ] || : >"$out/$name.done"
echo "$name: status $status, $(($(date +%s) - start)) s, $(tail -n 1 "$out/$name.txt" | cut -c 1-100)"
END
export tool python out work limit gpus

problem_of() {
    case $1 in
    *_01_fp8_gemm_*) echo gemm_fp8 ;;
    *_02_kda_*) echo kda ;;
    *_03_paged_*) echo paged_attention ;;
    *_05_topk_*) echo topk ;;
    *_06_sonic_*) echo moe_up ;;
    *_07_w4a16_*) echo gemm_w4a16 ;;
    esac
}
if [ -n "$published" ]; then
    for file in "$published"/*_solution.py.txt; do
        problem=$(problem_of "$file")
        [ -z "$problem" ] || echo "$file $problem $(basename "$file" _solution.py.txt) --unseen 10 --seed 7 $*"
    done >"$work/list"
else
    for file in "$here"/honest/*.py; do
        echo "$file softmax honest-$(basename "$file" .py) --effort quick --seed 7 $*"
    done >"$work/list"
    for file in "$here"/hacks/*.py; do
        echo "$file softmax hack-$(basename "$file" .py) --unseen 6 --seed 7 --no-explain $*"
    done >>"$work/list"
fi
xargs -P "$jobs" --process-slot-var=SLOT -I{} sh -c "sh '$work/one' {}" <"$work/list"
[ -z "$published" ] || exit 0

wrong=0
for file in "$here"/honest/*.py "$here"/hacks/*.py; do
    kind=$(basename "$(dirname "$file")")
    file=$out/${kind%s}-$(basename "$file" .py).txt
    name=$(basename "$file" .txt)
    case $name in
    honest-* | hack-replaced_time) want=general ;;
    # beside others the owner of work after the call is unknown: all of it is part of the time, and that is all
    hack-streams) [ "$jobs" -gt 1 ] && want='general cheating' || want=cheating ;;
    *) want='broken cheating' ;;
    esac
    verdict=$(tail -n 1 "$file" | cut -d ' ' -f 1)
    case " $want " in *" $verdict "*) ;; *) wrong=1 && echo "WRONG $name: $verdict; expected $want" ;; esac
done
exit $wrong
