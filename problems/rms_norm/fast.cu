// problem: rms_norm
// verdict: general
// construction: a block a row, 16-byte loads where the row allows them, the row kept in registers up to 8192 columns

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, VECTOR = 8, KEPT = 4; /* vectors a thread keeps */

struct alignas(16) Vector {
    __nv_bfloat16 at[VECTOR];
};

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
    return sum;
}

__device__ float squares(const Vector &v)
{
    float sum = 0;
    for (int i = 0; i < VECTOR; i++)
        sum = fmaf(__bfloat162float(v.at[i]), __bfloat162float(v.at[i]), sum);
    return sum;
}

__device__ Vector scaled(const Vector &v, const Vector &weight, float scale)
{
    Vector out;
    for (int i = 0; i < VECTOR; i++)
        out.at[i] = __float2bfloat16(__bfloat162float(v.at[i]) * scale * __bfloat162float(weight.at[i]));
    return out;
}

/* cols is a multiple of VECTOR. Vectors beyond the kept ones are read twice. */
__global__ void vector_norm(const Vector *x, const Vector *weight, Vector *y, int64_t vectors, float cols, float eps)
{
    const Vector *in = x + blockIdx.x * vectors;
    Vector kept[KEPT];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int64_t at = (int64_t)k * THREADS + threadIdx.x;
        if (at < vectors)
            sum += squares(kept[k] = in[at]);
    }
    for (int64_t at = KEPT * THREADS + threadIdx.x; at < vectors; at += THREADS)
        sum += squares(in[at]);
    const float scale = rsqrtf(block_sum(sum) / cols + eps);
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int64_t at = (int64_t)k * THREADS + threadIdx.x;
        if (at < vectors)
            y[blockIdx.x * vectors + at] = scaled(kept[k], weight[at], scale);
    }
    for (int64_t at = KEPT * THREADS + threadIdx.x; at < vectors; at += THREADS)
        y[blockIdx.x * vectors + at] = scaled(in[at], weight[at], scale);
}

__global__ void plain_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t cols,
                           float eps)
{
    const __nv_bfloat16 *in = x + blockIdx.x * cols;
    float sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum = fmaf(__bfloat162float(in[c]), __bfloat162float(in[c]), sum);
    const float scale = rsqrtf(block_sum(sum) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(weight[c]));
}

/* Tensors begin at multiples of 16 bytes. */
extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    if (cols % VECTOR == 0)
        vector_norm<<<(unsigned)rows, THREADS, 0, stream>>>((const Vector *)x, (const Vector *)weight, (Vector *)y,
                                                           cols / VECTOR, (float)cols, eps);
    else
        plain_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
    return (int)cudaGetLastError();
}
