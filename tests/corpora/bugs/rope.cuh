/* The honest kernel, honest_rope_cache, for candidates that differ from it in a step. */
#define rope_cache honest_rope_cache
#include "../../../problems/rope_cache/baseline.cu"
#undef rope_cache

#define PARAMETERS                                                                                                     \
    const __nv_bfloat16 *key, const __nv_bfloat16 *value, const int64_t *positions, const int64_t *slots,              \
        const float *cos_sin, __nv_bfloat16 *query, __nv_bfloat16 *key_cache, __nv_bfloat16 *value_cache,              \
        int64_t tokens, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size,         \
        int64_t pages, int64_t max_position, bool neox, cudaStream_t stream
#define ARGUMENTS                                                                                                      \
    key, value, positions, slots, cos_sin, query, key_cache, value_cache, tokens, heads, kv_heads, head_dim, rot_dim,  \
        page_size, pages, max_position, neox, stream
