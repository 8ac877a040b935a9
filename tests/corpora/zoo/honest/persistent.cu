// zoo: honest
// problem: softmax
// does: a block for each multiprocessor takes rows from a counter until there are none
// expect: general
// timing: yes

#include "../row.h"

__global__ void take_rows(const float *x, float *y, int64_t rows, int64_t cols, unsigned long long *next)
{
    __shared__ unsigned long long row;
    for (;;) {
        if (threadIdx.x == 0)
            row = atomicAdd(next, 1ull);
        __syncthreads();
        const int64_t r = (int64_t)row;
        __syncthreads();
        if (r >= rows)
            return;
        softmax_row(x + r * cols, y + r * cols, cols);
    }
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static unsigned long long *next;
    static int units;
    int device;
    if (!next && (cudaMalloc(&next, sizeof *next) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
                  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device) != cudaSuccess))
        return 1;
    cudaMemsetAsync(next, 0, sizeof *next, stream);
    take_rows<<<(unsigned)units, ROW_THREADS, 0, stream>>>(x, y, rows, cols, next);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
