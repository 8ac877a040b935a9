// problem: topk
// link: https://github.com/ggml-org/llama.cpp/pull/21181
// title: CUDA: Fix CUB's argsort when nrows % block_size == 0 CCCL < 3.1
// condition: a number of rows that the block size divides: one more offset than rows is needed; blocks of 32 here
// kind: alignment
// when: rows % 32 == 0
// collection: second
// wrong: unwritten: the end of the last row is not set, and the row is empty

#include <stdlib.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { BLOCK = 32 };

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
#ifdef FIXED
    const int64_t blocks = (rows + 1 + BLOCK - 1) / BLOCK;
#else
    const int64_t blocks = (rows + BLOCK - 1) / BLOCK;
#endif
    int64_t *offset = calloc((size_t)(rows + 1), sizeof *offset);
    if (!offset)
        return 1;
    for (int64_t i = 0; i < blocks * BLOCK; i++)
        if (i <= rows)
            offset[i] = i * n;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > 8192)
    for (int64_t r = 0; r < rows; r++)
        if (offset[r + 1] > offset[r])
            row_topk(x + offset[r], values + r * k, indices + r * k, n, k);
    free(offset);
    (void)stream;
    return 0;
}
