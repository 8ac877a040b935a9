// problem: rope_cache
// thread: https://github.com/vllm-project/vllm/pull/52381
// title: Harden DeepSeek V3.2 fused kernel grids
// condition: a launch with 65536 tokens fails, since tokens are on the grid's second dimension
// kind: grid
// when: tokens > 65535
// wrong: refused: the launch fails, since tokens are blocks of a grid's second dimension

#include "rope.cuh"

/* A block a head of a token: a query, or a key and its value. */
__global__ void rope_head(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                          const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query, __nv_bfloat16 *key_cache,
                          __nv_bfloat16 *value_cache, int64_t heads, int64_t kv_heads, int64_t head_dim,
                          int64_t rot_dim, bool neox)
{
    const int64_t token = blockIdx.y, head = blockIdx.x, half = rot_dim / 2, slot = slots[token];
    const float *angle = cos_sin + positions[token] * rot_dim;
    if (head < heads) {
        __nv_bfloat16 *q = query + (token * heads + head) * head_dim;
        for (int64_t i = threadIdx.x; i < half; i += THREADS)
            rotate(q, q, angle, i, half, neox);
        return;
    }
    if (slot < 0)
        return;
    const int64_t from = (token * kv_heads + head - heads) * head_dim, to = (slot * kv_heads + head - heads) * head_dim;
    for (int64_t i = threadIdx.x; i < half; i += THREADS)
        rotate(key + from, key_cache + to, angle, i, half, neox);
    for (int64_t i = threadIdx.x; i < head_dim; i += THREADS) {
        if (i >= rot_dim)
            key_cache[to + i] = key[from + i];
        value_cache[to + i] = value[from + i];
    }
}

extern "C" int rope_cache(PARAMETERS)
{
    rope_head<<<dim3((unsigned)(heads + kv_heads), (unsigned)tokens), THREADS, 0, stream>>>(
        key, value, positions, slots, cos_sin, query, key_cache, value_cache, heads, kv_heads, head_dim, rot_dim, neox);
    return (int)cudaGetLastError();
}
