// problem: softmax
// link: https://github.com/torch/cunn/issues/150
// title: cunn/SoftMax does not support images with 2^16 or more elements
// condition: 65536 elements along the grid's second dimension fail with "invalid configuration argument", 65535 work
// kind: grid
// when: rows > 65535
// wrong: refused: the launch fails, since rows are blocks of a grid's second dimension

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { MAX_GRID_Y = 65535 };

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    if (rows > MAX_GRID_Y)
        return 9; /* cudaErrorInvalidConfiguration */
    return honest_softmax(x, y, rows, cols, stream);
}
