// problem: softmax
// verdict: broken
// fault: race
// outcomes: wrong unstable
// when: any
// shows: cols > 32, nearly always

#include <cstdint>
#include <cuda_runtime.h>

/* Chains of at most 2^20 / 512 = 2048 terms. */
constexpr int THREADS = 512, WARPS = THREADS / 32;

static __device__ float warp_sum(float value)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lane);
    return value;
}

static __device__ float warp_max(float value)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
}

/* planted: the buffer of the maxima is reused for the sums, with no barrier between a warp's own
 * sum and its reads of the others: late warps still hold maxima */
__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ volatile float part[WARPS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = warp_max(max);
    if (lane == 0)
        part[warp] = max;
    __syncthreads();
    max = warp_max(lane < WARPS ? part[lane] : -INFINITY);
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += expf(in[c] - max);
    sum = warp_sum(sum);
    if (lane == 0)
        part[warp] = sum;
    sum = warp_sum(lane < WARPS ? part[lane] : 0.0f);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = expf(in[c] - max) / sum;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
