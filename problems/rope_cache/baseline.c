// problem: rope_cache
// verdict: general
// construction: a token after another, in double; tokens over the cores

#include <stdbool.h>

#include "../candidate.h"

/* Rotates the first rot_dim of one vector's elements. */
static void rotate(const bf16 *in, bf16 *out, const float *cosine, int64_t rot_dim, bool neox)
{
    const int64_t half = rot_dim / 2, step = neox ? half : 1;
    for (int64_t i = 0; i < half; i++) {
        const int64_t first = neox ? i : 2 * i;
        const double x1 = bf16_to_float(in[first]), x2 = bf16_to_float(in[first + step]);
        const double c = cosine[i], s = cosine[half + i];
        out[first] = float_to_bf16((float)(x1 * c - x2 * s));
        out[first + step] = float_to_bf16((float)(x2 * c + x1 * s));
    }
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
int rope_cache(const bf16 *key, const bf16 *value, const int64_t *positions, const int64_t *slots,
               const float *cos_sin, bf16 *query, bf16 *key_cache, bf16 *value_cache, int64_t tokens, int64_t heads,
               int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
               int64_t max_position, bool neox, void *stream)
{
    const int64_t row = kv_heads * head_dim;
    (void)page_size;
    (void)pages;
    (void)max_position;
    (void)stream;
#pragma omp parallel for schedule(static) if (tokens * heads * head_dim > 8192)
    for (int64_t t = 0; t < tokens; t++) {
        const float *angle = cos_sin + positions[t] * rot_dim;
        for (int64_t h = 0; h < heads; h++) {
            bf16 *q = query + (t * heads + h) * head_dim;
            rotate(q, q, angle, rot_dim, neox);
        }
        if (slots[t] < 0)
            continue;
        memcpy(value_cache + slots[t] * row, value + t * row, (size_t)row * sizeof *value);
        memcpy(key_cache + slots[t] * row, key + t * row, (size_t)row * sizeof *key);
        for (int64_t h = 0; h < kv_heads; h++)
            rotate(key + t * row + h * head_dim, key_cache + slots[t] * row + h * head_dim, angle, rot_dim, neox);
    }
    return 0;
}
