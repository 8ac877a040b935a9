// problem: softmax
// verdict: specialized
// fault: dropped tail
// outcomes: wrong
// when: cols % 8 != 0
// shows: cols % 8 != 0, where the last cols % 8 columns hold enough of the sum

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

constexpr int SPLITS = 8;

/* pair[row * SPLITS + split] = {max, sum of exp(x - max)} of a part of the row; {-inf, 0} if all
 * are -inf. planted: the parts are cols / SPLITS long, rounded down, and none contains the
 * remainder */
__global__ void part_pairs(const float *x, float2 *pair, int64_t cols)
{
    __shared__ float part[WARPS];
    int64_t length = cols / SPLITS;
    const float *in = x + blockIdx.x / SPLITS * cols + blockIdx.x % SPLITS * length;
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < length; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce<true>(max, part);
    for (int64_t c = threadIdx.x; c < length; c += THREADS)
        sum += expf(in[c] - (max == -INFINITY ? 0.0f : max));
    sum = block_reduce<false>(sum, part);
    if (threadIdx.x == 0)
        pair[blockIdx.x] = make_float2(max, sum);
}

__global__ void scale_row(const float *x, float *y, const float2 *pair, int64_t cols)
{
    const float2 *in = pair + blockIdx.x * SPLITS;
    float max = -INFINITY, sum = 0.0f;
    for (int s = 0; s < SPLITS; ++s)
        max = fmaxf(max, in[s].x);
    for (int s = 0; s < SPLITS; ++s)
        sum += in[s].y * (in[s].x == -INFINITY ? 0.0f : expf(in[s].x - max));
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = expf(x[blockIdx.x * cols + c] - max) / sum;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float2 *pair;
    cudaError_t status = cudaMallocAsync((void **)&pair, rows * SPLITS * sizeof *pair, stream);
    if (status != cudaSuccess)
        return (int)status;
    part_pairs<<<(unsigned)(rows * SPLITS), THREADS, 0, stream>>>(x, pair, cols);
    scale_row<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, pair, cols);
    status = cudaGetLastError();
    cudaFreeAsync(pair, stream);
    return (int)status;
}
