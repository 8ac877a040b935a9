// problem: paged_attention
// verdict: general
// construction: one block per (sequence, head); a pass for maximum and sum with a token per thread,
//   a second one that takes the scores again in chunks of 256 and adds up the values

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int THREADS = 256, MAX_DIM = 256;

struct Shape {
    int heads, group, dim, page_size;
    int64_t row, pages_per_seq;
};

__device__ const bf16 *token_row(const bf16 *cache, const int *table, int t, const Shape &s)
{
    return cache + ((int64_t)table[t / s.page_size] * s.page_size + t % s.page_size) * s.row;
}

// A thread's own dot product, 8 elements (16 bytes) at a time; dim is a multiple of 16.
__device__ float dot(const float *q, const bf16 *k, int dim)
{
    float sum = 0;
    for (int d = 0; d < dim; d += 8) {
        uint4 x = *reinterpret_cast<const uint4 *>(k + d);
        const __nv_bfloat162 *pair = reinterpret_cast<const __nv_bfloat162 *>(&x);
        for (int i = 0; i < 4; i++) {
            float2 f = __bfloat1622float2(pair[i]);
            sum += q[d + 2 * i] * f.x + q[d + 2 * i + 1] * f.y;
        }
    }
    return sum;
}

// Maximum, or sum, over the block; scratch holds one float per thread.
__device__ float block_reduce(float x, bool maximum, float *scratch)
{
    __syncthreads();
    scratch[threadIdx.x] = x;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            float y = scratch[threadIdx.x + half];
            scratch[threadIdx.x] = maximum ? fmaxf(scratch[threadIdx.x], y)
                                           : scratch[threadIdx.x] + y;
        }
    }
    __syncthreads();
    return scratch[0];
}

__global__ void attend(const bf16 *query, const bf16 *cache, const int *tables, const int *lens,
                       bf16 *out, Shape s)
{
    __shared__ float q[MAX_DIM], p[THREADS], scratch[THREADS];
    __shared__ const bf16 *value[THREADS];
    int64_t b = blockIdx.x / s.heads, h = blockIdx.x % s.heads, at = (int64_t)blockIdx.x * s.dim;
    const int *table = tables + b * s.pages_per_seq;
    int len = lens[b];
    float scale = 1.0f / sqrtf((float)s.dim), top = -INFINITY, sum = 0, acc = 0;
    cache += h / s.group * 2 * s.dim;
    if (threadIdx.x < s.dim)
        q[threadIdx.x] = __bfloat162float(query[at + threadIdx.x]);
    __syncthreads();

    for (int t = threadIdx.x; t < len; t += THREADS)
        top = fmaxf(top, scale * dot(q, token_row(cache, table, t, s), s.dim));
    top = block_reduce(top, true, scratch);
    for (int start = 0; start < len; start += THREADS) {
        int t = start + threadIdx.x, count = min(THREADS, len - start);
        if (t < len) {
            const bf16 *k = token_row(cache, table, t, s);
            p[threadIdx.x] = expf(scale * dot(q, k, s.dim) - top);
            value[threadIdx.x] = k + s.dim;
            sum += p[threadIdx.x];
        }
        __syncthreads();
        if (threadIdx.x < s.dim) {
            float part = 0; // short chains of fp32 additions, whatever the length
            for (int j = 0; j < count; j++)
                part += p[j] * __bfloat162float(value[j][threadIdx.x]);
            acc += part;
        }
        __syncthreads();
    }
    sum = block_reduce(sum, false, scratch);
    if (threadIdx.x < s.dim)
        out[at + threadIdx.x] = __float2bfloat16(acc / sum);
}

} // namespace

extern "C" int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                               const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                               int64_t kv_heads, int64_t head_dim, int64_t page_size,
                               int64_t pages, int64_t pages_per_seq, cudaStream_t stream)
{
    Shape s = {(int)heads, (int)(heads / kv_heads), (int)head_dim, (int)page_size,
               kv_heads * 2 * head_dim, pages_per_seq};
    attend<<<(unsigned)(batch * heads), THREADS, 0, stream>>>(query, kv_cache, block_table,
                                                              seq_lens, out, s);
    return (int)cudaGetLastError();
}
