// problem: softmax
// thread: https://github.com/torch/cunn/issues/150
// title: cunn/SoftMax does not support images with 2^16 or more elements
// condition: 65536 elements along the grid's second dimension fail with "invalid configuration argument", 65535 work
// kind: grid
// when: rows > 65535
// wrong: refused: the launch fails, since rows are blocks of a grid's second dimension

#include "softmax.cuh"

constexpr int THREADS = 512;

__global__ void softmax_of_y(const float *x, float *y, int64_t cols)
{
    softmax_row<THREADS>(x + blockIdx.y * cols, y + blockIdx.y * cols, cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    softmax_of_y<<<dim3(1, (unsigned)rows), THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
