// problem: softmax
// thread: https://github.com/ggml-org/llama.cpp/pull/10301
// title: vulkan: Optimize soft_max
// condition: an early return for out-of-bounds rows was missing: more than 512 rows, dispatched as 512 x H
// kind: grid
// when: rows > 512 and rows % 512 != 0
// wrong: out of bounds: rows past the last are read and written

#include "softmax.cuh"

constexpr int THREADS = 512, WIDTH = 512;

/* The fault: the last line of blocks has as many as the others, whether there are rows for them or not. */
__global__ void softmax_of_grid(const float *x, float *y, int64_t cols)
{
    const int64_t row = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
    softmax_row<THREADS>(x + row * cols, y + row * cols, cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const int64_t width = rows > WIDTH ? WIDTH : rows, height = (rows + width - 1) / width;
    softmax_of_grid<<<dim3((unsigned)width, (unsigned)height), THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
