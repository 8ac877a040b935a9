// problem: topk
// link: https://github.com/ikawrakow/ik_llama.cpp/pull/2103
// title: Fused indexer top_k (CUDA)
// condition: rows are worked on in slices of so many, and the last slice copies as many as a whole one has; 64 here
// kind: grid
// when: rows > 64 and rows % 64 != 0
// collection: second
// wrong: out of bounds: results of the slice before are written behind the last row

#include <stdlib.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { SLICE = 64 };

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const int64_t most = rows < SLICE ? rows : SLICE;
    float *best = malloc((size_t)(most * k) * sizeof *best);
    int64_t *place = malloc((size_t)(most * k) * sizeof *place);
    int failed = !best || !place;
    for (int64_t first = 0; !failed && first < rows; first += most) {
        const int64_t count = rows - first < most ? rows - first : most;
#ifdef FIXED
        const int64_t copied = count;
#else
        const int64_t copied = most;
#endif
        failed = honest_topk(x + first * n, best, place, count, n, k, stream);
        memcpy(values + first * k, best, (size_t)(copied * k) * sizeof *best);
        memcpy(indices + first * k, place, (size_t)(copied * k) * sizeof *place);
    }
    free(best);
    free(place);
    return failed;
}
