// zoo: honest
// problem: softmax
// does: builds a table on the device in its first call
// expect: general
// timing: yes

#include "../row.h"

__global__ void fill(float *table)
{
    table[threadIdx.x] = ldexpf(1, (int)threadIdx.x - 128);
}

__global__ void rows_by_table(const float *x, float *y, int64_t cols, const float *table)
{
    const float one = table[128]; /* 2^0 */
    softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        y[blockIdx.x * cols + c] *= one;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static float *table;
    if (!table) {
        if (cudaMalloc(&table, ROW_THREADS * sizeof *table) != cudaSuccess)
            return 1;
        fill<<<1, ROW_THREADS, 0, stream>>>(table);
        cudaStreamSynchronize(stream);
    }
    rows_by_table<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, y, cols, table);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
