// problem: rope_cache
// thread: https://github.com/sgl-project/sglang/pull/22868
// title: [Apple Silicon] Add custom Metal RoPE kernel with fused KV cache store
// condition: the fused kernel for halves fails to copy what is not rotated of a key, where ROPE_DIM < HEAD_DIM
// kind: layout
// when: style=halves and rot_dim != head_dim
// side: necessary
// wrong: unwritten: the rest of each stored key

#include "rope.cuh"

/* A token's pairs: of its queries, then of its keys; and its values. The fault: of keys nothing else is stored. */
__global__ void rope_halves(const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions,
                            const int64_t *slots, const float *cos_sin, __nv_bfloat16 *query,
                            __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache, int64_t heads, int64_t kv_heads,
                            int64_t head_dim, int64_t rot_dim)
{
    const int64_t token = blockIdx.x, half = rot_dim / 2, row = kv_heads * head_dim, slot = slots[token];
    const float *angle = cos_sin + positions[token] * rot_dim;
    for (int64_t i = threadIdx.x; i < (heads + kv_heads) * half; i += THREADS) {
        const int64_t head = i / half, kv_head = head - heads;
        __nv_bfloat16 *q = query + (token * heads + head) * head_dim;
        if (head < heads)
            rotate(q, q, angle, i % half, half, true);
        else if (slot >= 0)
            rotate(key + token * row + kv_head * head_dim, key_cache + slot * row + kv_head * head_dim, angle, i % half,
                   half, true);
    }
    for (int64_t i = threadIdx.x; i < row && slot >= 0; i += THREADS)
        value_cache[slot * row + i] = value[token * row + i];
}

extern "C" int rope_cache(PARAMETERS)
{
    if (!neox)
        return honest_rope_cache(ARGUMENTS);
    rope_halves<<<(unsigned)tokens, THREADS, 0, stream>>>(key, value, positions, slots, cos_sin, query, key_cache,
                                                         value_cache, heads, kv_heads, head_dim, rot_dim);
    return (int)cudaGetLastError();
}
