// problem: topk
// link: https://github.com/arrayfire/arrayfire/issues/2283
// title: Incorrect outputs for large k values in topk in cuda backend
// condition: values of k > 256 give incorrect results
// kind: threshold
// when: k > 256
// wrong: unwritten: one block of 256 threads stores one result each

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

#include <stdlib.h>

enum { THREADS = 256 };

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    float *value = malloc((size_t)k * sizeof *value);
    int64_t *index = malloc((size_t)k * sizeof *index);
    const int64_t stored = k < THREADS ? k : THREADS;
    int failed = !value || !index;
    for (int64_t r = 0; r < rows && !failed; r++) {
        failed = honest_topk(x + r * n, value, index, 1, n, k, stream);
        memcpy(values + r * k, value, (size_t)stored * sizeof *value);
        memcpy(indices + r * k, index, (size_t)stored * sizeof *index);
    }
    free(value);
    free(index);
    return failed;
}
