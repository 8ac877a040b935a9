// problem: layer_norm
// link: https://github.com/pytorch/pytorch/issues/184826
// title: ROCm F.layer_norm silently produces wrong output for M >= 2^23, C%4!=0
// condition: M >= 2^23 rows and C % 4 != 0; sized down to 2^11 rows
// kind: overflow
// when: rows >= 2048 and cols % 4 != 0
// wrong: unwritten: 512 threads a row are 2^20 and more, which wraps in the launch

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.c"
#undef layer_norm

enum { THREADS = 512, MOST = 1 << 20 };

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    const int64_t blocks =
        cols % 4 == 0 ? rows : rows * THREADS % MOST / THREADS; /* the vectorized kernel is another */
    return honest_layer_norm(x, gamma, beta, y, mean, rstd, blocks, cols, eps, stream);
}
