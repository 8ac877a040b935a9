// problem: rms_norm
// thread: https://github.com/sgl-project/sglang/pull/8543
// title: fix per token cuda kernel hidden dim cannot divide by 16
// condition: "Hidden dimension must be divisible by 16, but got 1368"
// kind: alignment
// when: cols % 16 != 0
// wrong: refused

#include "rms_norm.cuh"

constexpr int VECTOR = 16;

/* Two loads a thread; no column is left over. */
__global__ void vector_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t cols,
                            float eps)
{
    const int64_t first = blockIdx.x * cols;
    float sum = 0;
    for (int64_t c = threadIdx.x * VECTOR; c < cols; c += THREADS * VECTOR)
        sum += square_sum(load_eight(x + first + c)) + square_sum(load_eight(x + first + c + EIGHT));
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[first + c] = __float2bfloat16(__bfloat162float(x[first + c]) * scale * __bfloat162float(weight[c]));
}

extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    if (cols % VECTOR != 0)
        return (int)cudaErrorInvalidValue;
    vector_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
    return (int)cudaGetLastError();
}
