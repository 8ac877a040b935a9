// problem: softmax
// verdict: specialized
// fault: read past the end
// outcomes: crash overrun
// when: cols % 4096 != 0
// shows: cols % 4096 != 0

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

constexpr int ITEMS = 8; /* a tile has ITEMS * THREADS = 4096 columns */

/* planted: a whole tile is loaded before its columns past the row are replaced by -inf. The last
 * row's tile leaves the tensor (volatile keeps each load where it is written) */
static __device__ void load_tile(float (&v)[ITEMS], const float *in, int64_t at, int64_t cols)
{
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        v[i] = *(const volatile float *)(in + at + i * THREADS + threadIdx.x);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        v[i] = at + i * THREADS + threadIdx.x < cols ? v[i] : -INFINITY;
}

__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float part[WARPS];
    const float *in = x + blockIdx.x * cols;
    float v[ITEMS], max = -INFINITY, sum = 0.0f;
    for (int64_t at = 0; at < cols; at += ITEMS * THREADS) {
        load_tile(v, in, at, cols);
        for (int i = 0; i < ITEMS; ++i)
            max = fmaxf(max, v[i]);
    }
    max = block_reduce<true>(max, part);
    for (int64_t at = 0; at < cols; at += ITEMS * THREADS) {
        load_tile(v, in, at, cols);
        for (int i = 0; i < ITEMS; ++i)
            sum += expf(v[i] - max);
    }
    sum = block_reduce<false>(sum, part);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = expf(in[c] - max) / sum;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
