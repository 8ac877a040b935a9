// problem: attention
// verdict: general
// construction: a block for each (query, head): scores of 128 keys at a time, a running maximum, then their values

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

constexpr int THREADS = 128, WARPS = THREADS / 32, MAX_DIM = 256;

// Of all threads' x; `parts` is free again when everybody has passed the next barrier.
static __device__ float block_max(float x, float *parts)
{
    for (int offset = 16; offset; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = parts[0];
    for (int w = 1; w < WARPS; w++)
        x = fmaxf(x, parts[w]);
    return x;
}

static __device__ float dot(const float *q, const __nv_bfloat16 *k, int64_t dim)
{
    float sum = 0;
    for (int64_t i = 0; i < dim; i += 2) {
        const float2 pair = __bfloat1622float2(*(const __nv_bfloat162 *)(k + i));
        sum += q[i] * pair.x + q[i + 1] * pair.y;
    }
    return sum;
}

// A query's head, and the keys that it sees; they and their values lie `step` elements apart.
static __device__ void attend(const __nv_bfloat16 *query, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                              int64_t keys, int64_t dim, int64_t step, float scale, __nv_bfloat16 *out, float *lse)
{
    __shared__ float q[MAX_DIM], weight[THREADS], parts[WARPS];
    float top = -INFINITY, sum = 0, acc[MAX_DIM / THREADS] = {};
    for (int64_t i = threadIdx.x; i < dim; i += THREADS)
        q[i] = __bfloat162float(query[i]);
    for (int64_t first = 0; first < keys; first += THREADS) {
        const int64_t mine = first + threadIdx.x;
        __syncthreads(); // q is there; the last weights are not needed any more
        const float score = mine < keys ? scale * dot(q, k + mine * step, dim) : -INFINITY;
        const float best = fmaxf(top, block_max(score, parts)), shrink = expf(top - best);
        weight[threadIdx.x] = expf(score - best);
        __syncthreads();
        const int count = (int)(keys - first < THREADS ? keys - first : THREADS);
        float part = 0, more[MAX_DIM / THREADS] = {};
        for (int t = 0; t < count; t++) {
            part += weight[t];
            for (int64_t i = threadIdx.x, j = 0; i < dim; i += THREADS, j++)
                more[j] += weight[t] * __bfloat162float(v[(first + t) * step + i]);
        }
        sum = sum * shrink + part;
        for (int j = 0; j < MAX_DIM / THREADS; j++)
            acc[j] = acc[j] * shrink + more[j];
        top = best;
    }
    for (int64_t i = threadIdx.x, j = 0; i < dim; i += THREADS, j++)
        out[i] = __float2bfloat16(acc[j] / sum);
    if (threadIdx.x == 0)
        *lse = top + logf(sum);
    __syncthreads(); // q is used again
}

static __global__ void attend_rows(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                   const int32_t *cu_seqlens_q, const int32_t *cu_seqlens_kv, __nv_bfloat16 *out,
                                   float *lse, int64_t heads, int64_t kv_heads, int64_t dim, int64_t total_q,
                                   float scale, bool causal)
{
    for (int64_t row = blockIdx.x; row < total_q * heads; row += gridDim.x) {
        const int64_t i = row / heads, kv_head = row % heads / (heads / kv_heads);
        int64_t b = 0;
        while (cu_seqlens_q[b + 1] <= i)
            b++;
        const int64_t first = cu_seqlens_kv[b], hidden = causal ? cu_seqlens_q[b + 1] - 1 - i : 0;
        const int64_t at = (first * kv_heads + kv_head) * dim;
        attend(q + row * dim, k + at, v + at, cu_seqlens_kv[b + 1] - first - hidden, dim, kv_heads * dim, scale,
               out + row * dim, lse + row);
    }
}

extern "C" int attention(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                         const int32_t *cu_seqlens_q, const int32_t *cu_seqlens_kv, __nv_bfloat16 *out, float *lse,
                         int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,
                         int64_t total_kv, float scale, bool causal, cudaStream_t stream)
{
    const int64_t rows = total_q * heads, most = 1 << 20;
    attend_rows<<<(unsigned)(rows < most ? rows : most), THREADS, 0, stream>>>(
        q, k, v, cu_seqlens_q, cu_seqlens_kv, out, lse, heads, kv_heads, head_dim, total_q, scale, causal);
    return (int)cudaGetLastError();
}
