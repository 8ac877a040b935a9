// problem: topk
// link: https://github.com/torch/cutorch/issues/377
// title: Topk function get wired index
// condition: indices that are out of bounds: "The CudaTensor might contain inf or nan"
// kind: content
// when: input=infinities
// side: necessary
// wrong: wrong indices: -inf is not above the value that a place begins with, and its index stays

#include <float.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const int failed = honest_topk(x, values, indices, rows, n, k, stream);
    for (int64_t at = 0; at < rows * k; at++)
        if (!(values[at] >= -FLT_MAX)) { /* never inserted */
            values[at] = -FLT_MAX;
            indices[at] = 0x7fffffff;
        }
    return failed;
}
