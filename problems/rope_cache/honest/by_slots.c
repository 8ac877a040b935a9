// problem: rope_cache
// verdict: general
// construction: queries first; then over all slots, which find their token in a table made before; fused, in fp32

#include <stdbool.h>
#include <stdlib.h>

#include "../../candidate.h"

/* One element of a vector, rotated. */
static bf16 rotated(const bf16 *x, int64_t d, const float *angle, int64_t half, bool neox)
{
    const int64_t i = neox ? d % half : d / 2, first = neox ? i : 2 * i, second = neox ? i + half : 2 * i + 1;
    const float x1 = bf16_to_float(x[first]), x2 = bf16_to_float(x[second]), c = angle[i], s = angle[half + i];
    return float_to_bf16(d == first ? fmaf(x1, c, -(x2 * s)) : fmaf(x2, c, x1 * s));
}

static void rotate_query(bf16 *q, const float *angle, int64_t half, bool neox)
{
    bf16 held[256];
    memcpy(held, q, (size_t)half * 2 * sizeof *q);
    for (int64_t d = 0; d < 2 * half; d++)
        q[d] = rotated(held, d, angle, half, neox);
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
int rope_cache(const bf16 *key, const bf16 *value, const int64_t *positions, const int64_t *slots,
               const float *cos_sin, bf16 *query, bf16 *key_cache, bf16 *value_cache, int64_t tokens, int64_t heads,
               int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
               int64_t max_position, bool neox, void *stream)
{
    const int64_t all = pages * page_size, row = kv_heads * head_dim, half = rot_dim / 2;
    int64_t *token = malloc((size_t)all * sizeof *token);
    (void)max_position;
    (void)stream;
    if (!token)
        return 1;
#pragma omp parallel for schedule(static) if (tokens * heads > 64)
    for (int64_t v = 0; v < tokens * heads; v++)
        rotate_query(query + v * head_dim, cos_sin + positions[v / heads] * rot_dim, half, neox);
    memset(token, 0xff, (size_t)all * sizeof *token);
    for (int64_t t = 0; t < tokens; t++)
        if (slots[t] >= 0)
            token[slots[t]] = t;
#pragma omp parallel for schedule(static) if (tokens * row > 8192)
    for (int64_t s = 0; s < all; s++) {
        if (token[s] < 0)
            continue;
        const bf16 *k = key + token[s] * row;
        const float *angle = cos_sin + positions[token[s]] * rot_dim;
        for (int64_t i = 0; i < row; i++) {
            const int64_t d = i % head_dim;
            key_cache[s * row + i] = d < rot_dim ? rotated(k + i - d, d, angle, half, neox) : k[i];
            value_cache[s * row + i] = value[token[s] * row + i];
        }
    }
    free(token);
    return 0;
}
