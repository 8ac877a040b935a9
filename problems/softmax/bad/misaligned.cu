// problem: softmax
// verdict: specialized
// fault: misaligned vector access
// outcomes: crash
// when: rows > 1 and cols % 4 != 0 and cols > 4
// shows: rows > 1 and cols % 4 != 0 and cols >= 4

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

/* planted: 16-byte accesses from the row's first column on, wherever the row starts */
__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float part[WARPS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    const float4 *quad = reinterpret_cast<const float4 *>(in);
    int64_t quads = cols / 4, tail = 4 * quads + threadIdx.x;
    float max = tail < cols ? in[tail] : -INFINITY;
    for (int64_t q = threadIdx.x; q < quads; q += THREADS) {
        float4 v = quad[q];
        max = fmaxf(max, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    max = block_reduce<true>(max, part);
    float sum = tail < cols ? expf(in[tail] - max) : 0.0f;
    for (int64_t q = threadIdx.x; q < quads; q += THREADS) {
        float4 v = quad[q];
        sum += (expf(v.x - max) + expf(v.y - max)) + (expf(v.z - max) + expf(v.w - max));
    }
    float by = 1.0f / block_reduce<false>(sum, part);
    for (int64_t q = threadIdx.x; q < quads; q += THREADS) {
        float4 v = quad[q];
        reinterpret_cast<float4 *>(out)[q] = make_float4(
            expf(v.x - max) * by, expf(v.y - max) * by, expf(v.z - max) * by, expf(v.w - max) * by);
    }
    if (tail < cols)
        out[tail] = expf(in[tail] - max) * by;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
