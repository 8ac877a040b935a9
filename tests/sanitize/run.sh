#!/bin/sh
# compute-sanitizer memcheck and racecheck over the tool's own kernels (filling, judging, comparing) and over every baseline, fast
# and honest CUDA kernel, the program with switches among them. $1: the folder of the binaries. $2: a single problem. Exit 1 on any
# finding. Skips with a reason where there is no sanitizer or where it refuses the device.
set -u
# The sanitizer does not follow the exec by which the tool gives itself this.
export OMP_WAIT_POLICY=passive
build=$1
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$sanitizer" ]; then echo "sanitize: skipped, no compute-sanitizer"; exit 0; fi
if [ "$(uname -r)" = 4.4.0 ]; then echo "sanitize: skipped, this kernel does not let it attach"; exit 0; fi

softmax='rows=7 cols=1031 input=special seed=4'
gemm_fp8='m=65 n=130 k=287 input=needle seed=4'
paged_attention='batch=3 heads=6 kv_heads=2 head_dim=80 page_size=17 max_len=301 lengths=ragged table=shared past=invalid input=onehot seed=4'
kda='batch=1 t=131 heads=2 dk=96 dv=64 decay=mixed beta=mixed input=normal seed=4'
topk='rows=3 n=1031 k=65 input=ties seed=4'
moe_up='tokens=77 hidden_dim=65 inter_dim=33 experts=9 routing=odd input=normal seed=4'
gemm_w4a16='m=33 n=65 k=194 group=96 zero=spread input=normal seed=4'
gemm_bf16='m=65 n=130 k=143 trans_b=1 input=normal seed=4'
gemm_f32='m=65 n=130 k=143 trans_b=0 input=normal seed=4'
rms_norm='rows=7 cols=1031 input=special seed=4'
layer_norm='rows=7 cols=1031 input=nan seed=4'
attention='batch=3 kv_heads=2 group=3 head_dim=80 max_len=131 causal=1 kv=prefix lengths=ragged input=normal seed=4'
cross_entropy='rows=7 vocab=1031 pad=3 ignored=some labels=edges input=special seed=4'
rope_cache='tokens=37 heads=6 kv_heads=2 head_dim=80 page_size=17 pages=9 max_position=301 rotated=half style=pairs slots=padded input=special seed=4'
conv2d_bf16='n=2 groups=2 c_per_group=5 o_per_group=7 h=19 w=23 kh=3 kw=5 stride_h=2 stride_w=1 pad_h=1 pad_w=3 dil_h=1 dil_w=2 input=normal seed=4'
conv2d_f32='n=2 groups=2 c_per_group=5 o_per_group=7 h=19 w=23 kh=3 kw=3 stride_h=1 stride_w=1 pad_h=1 pad_w=0 dil_h=1 dil_w=1 input=normal seed=4'
failed=0

# $1: tool of the sanitizer, the rest: the command. Prints one line; findings in full.
try() {
    tool=$1; shift
    if "$sanitizer" --tool "$tool" --target-processes application-only --error-exitcode 99 "$@" \
        >/tmp/unseen-sanitize.$$ 2>&1; then echo "  ok   $tool $2 $3 $4"
    else echo "  BAD  $tool $*"; cat /tmp/unseen-sanitize.$$; failed=1; fi
}

for tool in memcheck racecheck; do
    for problem in ${2:-$(sed -n 's/^PROBLEM(\([^)]*\)).*/\1/p' problems/registry.def)}; do
        eval "line=\${$problem:?no configuration is named for it here}"
        try $tool "$build/unseen" check $problem problems/$problem/baseline.cu "$line"
        for kernel in problems/$problem/baseline.cu problems/$problem/fast.cu problems/$problem/honest/*.cu \
            tests/honest/$problem.cu; do
            [ -f "$kernel" ] || continue # no program with switches
            try $tool "$build/unseen-call" $problem "$kernel" "$line"
        done
    done
done
rm -f /tmp/unseen-sanitize.$$
exit $failed
