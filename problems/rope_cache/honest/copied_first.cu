// problem: rope_cache
// verdict: general
// construction: keys and values are copied to their slots; then a warp a vector rotates queries and stored keys where they are

#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__global__ void store(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *slots,
                      __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t row)
{
    const int64_t token = blockIdx.x, slot = slots[token];
    for (int64_t i = threadIdx.x; slot >= 0 && i < row; i += THREADS) {
        key_cache[slot * row + i] = key[token * row + i];
        value_cache[slot * row + i] = value[token * row + i];
    }
}

/* Vectors of a token that lie one after another at `x`. */
__device__ void rotate(__nv_bfloat16 *x, const float *angle, int64_t vectors, int64_t head_dim, int half, bool neox)
{
    const int lane = threadIdx.x % 32;
    for (int64_t v = threadIdx.x / 32; v < vectors; v += WARPS)
        for (int i = lane; i < half; i += 32) {
            __nv_bfloat16 *first = x + v * head_dim + (neox ? i : 2 * i), *second = first + (neox ? half : 1);
            const float x1 = __bfloat162float(*first), x2 = __bfloat162float(*second);
            const float c = angle[i], s = angle[half + i];
            *first = __float2bfloat16_rn(fmaf(-x2, s, x1 * c));
            *second = __float2bfloat16_rn(fmaf(x1, s, x2 * c));
        }
}

__global__ void rotate_stored(const int64_t *positions, const int64_t *slots, const float *cos_sin,
                              __nv_bfloat16 *query, __nv_bfloat16 *key_cache, int64_t heads, int64_t kv_heads,
                              int64_t head_dim, int64_t rot_dim, bool neox)
{
    const int64_t token = blockIdx.x, slot = slots[token];
    const float *angle = cos_sin + positions[token] * rot_dim;
    rotate(query + token * heads * head_dim, angle, heads, head_dim, (int)(rot_dim / 2), neox);
    if (slot >= 0)
        rotate(key_cache + slot * kv_heads * head_dim, angle, kv_heads, head_dim, (int)(rot_dim / 2), neox);
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
extern "C" int rope_cache(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                          const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                          __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t tokens, int64_t heads,
                          int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
                          int64_t max_position, bool neox, cudaStream_t stream)
{
    store<<<(unsigned)tokens, THREADS, 0, stream>>>(key, value, slots, key_cache, value_cache, kv_heads * head_dim);
    rotate_stored<<<(unsigned)tokens, THREADS, 0, stream>>>(positions, slots, cos_sin, query, key_cache, heads,
                                                           kv_heads, head_dim, rot_dim, neox);
    return (int)cudaGetLastError();
}
