/* A softmax of rows by blocks, for candidates that need to decide inside a kernel. */
#ifndef ZOO_ROW_H
#define ZOO_ROW_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

constexpr int ROW_THREADS = 256;

/* The largest (or the sum) of one value per thread, in every thread; fmaxf passes NaN over. */
template <bool MAX> __device__ float together(float value, float *shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = ROW_THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            const float other = shared[threadIdx.x + half];
            shared[threadIdx.x] = MAX ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
        }
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads();
    return result;
}

/* One row by one block. NaN, and inf - inf, reach the sum. */
__device__ inline void softmax_row(const float *x, float *y, int64_t cols)
{
    __shared__ float shared[ROW_THREADS];
    float most = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        most = fmaxf(most, x[c]);
    most = together<true>(most, shared);
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        sum += expf(x[c] - most);
    sum = together<false>(sum, shared);
    for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
        y[c] = expf(x[c] - most) / sum;
}

/* Any grid: rows go round. */
static __global__ void softmax_rows(const float *x, float *y, int64_t rows, int64_t cols)
{
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x)
        softmax_row(x + r * cols, y + r * cols, cols);
}

static inline int launch_rows(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    softmax_rows<<<(unsigned)(rows < 65535 ? rows : 65535), ROW_THREADS, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

/* How often in a row the same input and shape occurred, this time included. */
static inline int64_t same_in_a_row(const void *x, int64_t rows, int64_t cols)
{
    static const void *last;
    static int64_t last_rows, last_cols, count;
    count = x == last && rows == last_rows && cols == last_cols ? count + 1 : 1;
    last = x;
    last_rows = rows;
    last_cols = cols;
    return count;
}

/* Device memory that stays between calls and grows; NULL when there is none. */
static inline float *kept_memory(size_t bytes)
{
    static float *room;
    static size_t size;
    if (bytes <= size)
        return room;
    cudaFree(room);
    room = NULL;
    size = cudaMalloc(&room, bytes) == cudaSuccess ? bytes : 0;
    return size ? room : NULL;
}

#endif
