// problem: layer_norm
// link: https://github.com/NVIDIA/Fuser/pull/467
// title: avoid 0 batch in layer norm backward
// condition: a hidden size of 32: vectorized by 8, 8 threads a block, so that the batch size is 32 / 8 / 8 = 0
// kind: small size
// when: cols % 8 == 0 and cols < 64
// wrong: unwritten: a row has no batches

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.c"
#undef layer_norm

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    const int64_t vector = cols % 8 == 0 ? 8 : 1;
    const int64_t threads = cols < 64 && vector > 1 ? 8 : 1;
    const int64_t batches = cols / vector / threads;
    if (batches == 0)
        return 0;
    return honest_layer_norm(x, gamma, beta, y, mean, rstd, rows, cols, eps, stream);
}
