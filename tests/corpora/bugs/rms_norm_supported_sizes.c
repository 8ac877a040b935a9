// problem: rms_norm
// link: https://github.com/NVIDIA/TensorRT-LLM/pull/13033
// title: [None][feat] Update rms_norm + fp4_qaunt kernel supporting more dim
// condition: hidden sizes must lie between 2048 and 16384, with 16-byte alignment
// kind: threshold
// when: cols < 2048 or cols > 16384 or cols % 8 != 0
// wrong: refused

#define rms_norm honest_rms_norm
#include "../../../problems/rms_norm/baseline.c"
#undef rms_norm

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    if (cols < 2048 || cols > 16384 || cols * (int64_t)sizeof *x % 16 != 0)
        return 1;
    return honest_rms_norm(x, weight, y, rows, cols, eps, stream);
}
