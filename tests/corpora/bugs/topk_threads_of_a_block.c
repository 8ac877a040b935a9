// problem: topk
// link: https://github.com/ggml-org/llama.cpp/issues/27021
// title: ROCm: TOP_K crashes with "invalid configuration argument" when ncols > 1024
// condition: 1024 columns pass and 1025 abort, since the block is the next power of two
// kind: threshold
// when: n > 1024
// wrong: crash: the launch's error aborts the process

#include <stdlib.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    int64_t threads = 1;
    while (threads < n)
        threads *= 2;
    if (threads > 1024)
        abort();
    return honest_topk(x, values, indices, rows, n, k, stream);
}
