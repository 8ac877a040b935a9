// problem: rms_norm
// link: https://github.com/sgl-project/sglang/pull/8543
// title: fix per token cuda kernel hidden dim cannot divide by 16
// condition: "Hidden dimension must be divisible by 16, but got 1368"
// kind: alignment
// when: cols % 16 != 0
// wrong: refused

#define rms_norm honest_rms_norm
#include "../../../problems/rms_norm/baseline.c"
#undef rms_norm

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    return cols % 16 != 0 ? 1 : honest_rms_norm(x, weight, y, rows, cols, eps, stream);
}
