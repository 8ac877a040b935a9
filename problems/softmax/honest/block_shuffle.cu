// problem: softmax
// verdict: general
// construction: two passes, one block of 1024 threads a row, warp shuffles, exp2f

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr float LOG2E = 1.44269504f;

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float warp_reduce(float value, Op op)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
}

/* 32 warps leave 32 values, which every warp reduces for itself. */
template <class Op>
__device__ float block_reduce(float value, Op op, float *part)
{
    value = warp_reduce(value, op);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_reduce(part[threadIdx.x % 32], op);
}

/* 2^((x - max) log2 e): the subtraction comes first, or logits near 1e4 would lose their digits. */
static __device__ float term(float x, float max)
{
    return exp2f((x - max) * LOG2E);
}

__global__ void __launch_bounds__(THREADS) row_softmax(const float *x, float *y, int64_t cols)
{
    __shared__ float part[2][WARPS]; /* maxima and sums apart: no reuse, no extra barrier */
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;

    float max = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        max = fmaxf(max, in[c]);
    max = block_reduce(max, Max(), part[0]);

    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += term(in[c], max);
    float scale = 1.0f / block_reduce(sum, Add(), part[1]);

    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = term(in[c], max) * scale;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
