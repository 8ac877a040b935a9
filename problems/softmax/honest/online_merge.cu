// problem: softmax
// verdict: general
// construction: one online pass (running maximum and sum) per thread, pairs merged over the block

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, WARPS = THREADS / 32, STEP = 8;

/* sum of exp(x - max) over what was seen; nothing but -inf seen: {-inf, 0} */
struct Running {
    float max, sum;
};

/* Nothing was seen where max is -inf: exp(-inf - -inf) would be NaN. A NaN in sum stays, since
 * NaN * 0 is NaN, and +inf makes one itself by exp(inf - inf). */
static __device__ float carry(Running one, float max)
{
    return one.sum * (one.max == -INFINITY ? 0.0f : __expf(one.max - max));
}

static __device__ Running merge(Running a, Running b)
{
    float max = fmaxf(a.max, b.max);
    return {max, carry(a, max) + carry(b, max)};
}

/* STEP columns at once, so that a thread rescales its sum at most 2^20 / (512 * 8) = 256 times. */
static __device__ Running see(Running run, const float (&v)[STEP])
{
    float max = run.max;
#pragma unroll
    for (int i = 0; i < STEP; ++i)
        max = fmaxf(max, v[i]);
    float base = max == -INFINITY ? 0.0f : max, sum = carry(run, max);
#pragma unroll
    for (int i = 0; i < STEP; ++i)
        sum += __expf(v[i] - base);
    return {max, sum};
}

static __device__ Running warp_merge(Running run)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        Running other = {__shfl_xor_sync(0xffffffffu, run.max, lane),
                         __shfl_xor_sync(0xffffffffu, run.sum, lane)};
        run = merge(run, other);
    }
    return run;
}

__global__ void __launch_bounds__(THREADS) row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ Running part[WARPS];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;

    Running run = {-INFINITY, 0.0f};
    for (int64_t at = 0; at < cols; at += STEP * THREADS) {
        float v[STEP];
#pragma unroll
        for (int i = 0; i < STEP; ++i) {
            int64_t c = at + i * THREADS + threadIdx.x;
            v[i] = c < cols ? in[c] : -INFINITY; /* adds exp(-inf) = 0 */
        }
        run = see(run, v);
    }
    run = warp_merge(run);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = run;
    __syncthreads();
    run = warp_merge(threadIdx.x % 32 < WARPS ? part[threadIdx.x % 32] : Running{-INFINITY, 0.0f});

    /* A row of -inf only has sum 0 and max -inf: -inf - -inf is NaN. */
    float scale = 1.0f / run.sum;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = __expf(in[c] - run.max) * scale;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
