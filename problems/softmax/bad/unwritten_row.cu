// problem: softmax
// fate: specialized
// fault: unwritten output
// outcomes: unwritten
// when: rows % 2 != 0
// shows: rows odd

#include <cstdint>
#include <cuda_runtime.h>

/* Chains of at most 2^20 / 512 = 2048 terms. */
constexpr int THREADS = 512, WARPS = THREADS / 32;

/* The maximum, or the sum, of one value per thread, in every thread. */
template <bool MAX>
__device__ float block_reduce(float value, float *part)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, lane);
        value = MAX ? fmaxf(value, other) : value + other;
    }
    __syncthreads(); /* the readers of the last reduction are done */
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < WARPS; ++w)
        value = MAX ? fmaxf(value, part[w]) : value + part[w];
    return value;
}

static __device__ void softmax_row(const float *in, float *out, int64_t cols, float *part)
{
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce<true>(max, part);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(in[c] - max);
    sum = block_reduce<false>(sum, part);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = expf(in[c] - max) / sum;
}

/* planted: a block does two rows, and the last of an odd number of rows has no block */
__global__ void row_softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    __shared__ float part[WARPS];
    int64_t row = 2 * (int64_t)blockIdx.x;
    if (row + 1 >= rows)
        return;
    softmax_row(x + row * cols, y + row * cols, cols, part);
    softmax_row(x + (row + 1) * cols, y + (row + 1) * cols, cols, part);
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)((rows + 1) / 2), THREADS, 0, stream>>>(x, y, rows, cols);
    return (int)cudaGetLastError();
}
