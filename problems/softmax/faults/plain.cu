// problem: softmax
// verdict: general
// construction: one block of 512 threads a row; maximum, sum of exponentials, quotients computed anew

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

__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float part[WARPS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
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

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
