// problem: rms_norm
// verdict: general
// construction: one block of 256 threads a row, two sweeps, a tree in shared memory

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256;

__device__ float block_sum(float value)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

__global__ void row_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t cols,
                         float eps)
{
    const __nv_bfloat16 *in = x + blockIdx.x * cols;
    __nv_bfloat16 *out = y + blockIdx.x * cols;
    float sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS) {
        const float v = __bfloat162float(in[c]);
        sum += v * v;
    }
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        out[c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(weight[c]));
}

/* x, y are [rows, cols], weight is [cols] */
extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    row_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
    return (int)cudaGetLastError();
}
