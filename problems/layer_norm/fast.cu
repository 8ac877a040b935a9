// problem: layer_norm
// verdict: general
// construction: a block a row, 16-byte loads, the row kept in registers up to 4096 columns, two passes over them

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256, KEPT = 4; /* vectors a thread keeps */

__device__ float block_sum(float sum)
{
    __shared__ float part[THREADS / 32];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < THREADS / 32; w++)
        sum += part[w];
    __syncthreads(); /* all have read it before it is used again */
    return sum;
}

__device__ float total(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__device__ float squares(float4 v, float m)
{
    const float a = v.x - m, b = v.y - m, c = v.z - m, d = v.w - m;
    return (a * a + b * b) + (c * c + d * d);
}

__device__ float4 scaled(float4 v, float4 gamma, float4 beta, float m, float r)
{
    return make_float4((v.x - m) * r * gamma.x + beta.x, (v.y - m) * r * gamma.y + beta.y,
                       (v.z - m) * r * gamma.z + beta.z, (v.w - m) * r * gamma.w + beta.w);
}

/* cols = 4 vectors; those beyond the kept ones are read three times. */
__global__ void vector_norm(const float4 *x, const float4 *gamma, const float4 *beta, float4 *y, float *mean,
                            float *rstd, int64_t vectors, float eps)
{
    const float4 *in = x + blockIdx.x * vectors;
    const float cols = 4 * (float)vectors;
    float4 kept[KEPT];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        if (k * THREADS + threadIdx.x < vectors)
            sum += total(kept[k] = in[k * THREADS + threadIdx.x]);
    for (int64_t at = KEPT * THREADS + threadIdx.x; at < vectors; at += THREADS)
        sum += total(in[at]);
    const float m = block_sum(sum) / cols;
    sum = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        if (k * THREADS + threadIdx.x < vectors)
            sum += squares(kept[k], m);
    for (int64_t at = KEPT * THREADS + threadIdx.x; at < vectors; at += THREADS)
        sum += squares(in[at], m);
    const float r = rsqrtf(block_sum(sum) / cols + eps);
    float4 *out = y + blockIdx.x * vectors;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int at = k * THREADS + threadIdx.x;
        if (at < vectors)
            out[at] = scaled(kept[k], gamma[at], beta[at], m, r);
    }
    for (int64_t at = KEPT * THREADS + threadIdx.x; at < vectors; at += THREADS)
        out[at] = scaled(in[at], gamma[at], beta[at], m, r);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = r;
    }
}

__global__ void plain_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                           int64_t cols, float eps)
{
    const float *in = x + blockIdx.x * cols;
    float sum = 0, square = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += in[c];
    const float m = block_sum(sum) / (float)cols;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        square += (in[c] - m) * (in[c] - m);
    const float r = rsqrtf(block_sum(square) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = (in[c] - m) * r * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = r;
    }
}

/* Tensors begin at multiples of 16 bytes. */
extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    if (cols % 4 == 0)
        vector_norm<<<(unsigned)rows, THREADS, 0, stream>>>((const float4 *)x, (const float4 *)gamma,
                                                            (const float4 *)beta, (float4 *)y, mean, rstd, cols / 4,
                                                            eps);
    else
        plain_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, gamma, beta, y, mean, rstd, cols, eps);
    return (int)cudaGetLastError();
}
