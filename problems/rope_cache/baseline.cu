// problem: rope_cache
// verdict: general
// construction: a block of 128 threads a token, a thread a pair, then one a copied element

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 128;

/* Pair i of a vector. */
__device__ void rotate(const __nv_bfloat16 *in, __nv_bfloat16 *out, const float *angle, int64_t i, int64_t half,
                       bool neox)
{
    const int64_t first = neox ? i : 2 * i, second = neox ? i + half : 2 * i + 1;
    const float x1 = __bfloat162float(in[first]), x2 = __bfloat162float(in[second]);
    const float c = angle[i], s = angle[half + i];
    out[first] = __float2bfloat16(x1 * c - x2 * s);
    out[second] = __float2bfloat16(x2 * c + x1 * s);
}

__global__ void rope_append(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                            const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                            __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t heads, int64_t kv_heads,
                            int64_t head_dim, int64_t rot_dim, bool neox)
{
    const int64_t token = blockIdx.x, half = rot_dim / 2, row = kv_heads * head_dim, slot = slots[token];
    const float *angle = cos_sin + positions[token] * rot_dim;
    for (int64_t i = threadIdx.x; i < heads * half; i += THREADS) {
        __nv_bfloat16 *q = query + (token * heads + i / half) * head_dim;
        rotate(q, q, angle, i % half, half, neox);
    }
    if (slot < 0)
        return;
    key += token * row;
    value += token * row;
    key_cache += slot * row;
    value_cache += slot * row;
    for (int64_t i = threadIdx.x; i < kv_heads * half; i += THREADS)
        rotate(key + i / half * head_dim, key_cache + i / half * head_dim, angle, i % half, half, neox);
    for (int64_t i = threadIdx.x; i < row; i += THREADS) {
        if (i % head_dim >= rot_dim)
            key_cache[i] = key[i];
        value_cache[i] = value[i];
    }
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
extern "C" int rope_cache(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                          const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                          __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t tokens, int64_t heads,
                          int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
                          int64_t max_position, bool neox, cudaStream_t stream)
{
    rope_append<<<(unsigned)tokens, THREADS, 0, stream>>>(key, value, positions, slots, cos_sin, query, key_cache,
                                                         value_cache, heads, kv_heads, head_dim, rot_dim, neox);
    return (int)cudaGetLastError();
}
