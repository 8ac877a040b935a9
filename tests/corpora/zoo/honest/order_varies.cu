// zoo: honest
// problem: softmax
// does: adds up a row by atomics of many blocks: last bits vary
// expect: general
// timing: yes

#include "../row.h"

__global__ void find_most(const float *x, float *most, int64_t cols)
{
    __shared__ float shared[ROW_THREADS];
    float largest = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        largest = fmaxf(largest, x[blockIdx.x * cols + c]);
    largest = together<true>(largest, shared);
    if (threadIdx.x == 0)
        most[blockIdx.x] = largest;
}

__global__ void add_up(const float *x, const float *most, double *sum, int64_t cols)
{
    const int64_t c = (int64_t)blockIdx.y * ROW_THREADS + threadIdx.x;
    if (c < cols)
        atomicAdd(&sum[blockIdx.x], (double)expf(x[blockIdx.x * cols + c] - most[blockIdx.x]));
}

__global__ void divide(const float *x, float *y, const float *most, const double *sum, int64_t cols)
{
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        y[blockIdx.x * cols + c] = (float)(expf(x[blockIdx.x * cols + c] - most[blockIdx.x]) / sum[blockIdx.x]);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    double *sum = (double *)kept_memory((size_t)rows * (sizeof *sum + sizeof(float)));
    float *most = (float *)(sum + rows);
    if (!sum)
        return 1;
    cudaMemsetAsync(sum, 0, (size_t)rows * sizeof *sum, stream);
    find_most<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, most, cols);
    add_up<<<dim3((unsigned)rows, (unsigned)((cols + ROW_THREADS - 1) / ROW_THREADS)), ROW_THREADS, 0, stream>>>(x, most, sum, cols);
    divide<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, y, most, sum, cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
