// problem: rope_cache
// verdict: general
// construction: x cos + turned(x) sin over whole vectors, cosines and sines spread to one an element; keys, values, queries one after another

#include <stdbool.h>
#include <stdlib.h>

#include "../../candidate.h"

/* Per token: a cosine and a sine for each element, and the index of the pair's other element. */
struct spread {
    float cosine[256], sine[256]; /* the sine negative for first elements */
    int64_t other[256];
};

static void spread(struct spread *to, const float *angle, int64_t rot_dim, bool neox)
{
    const int64_t half = rot_dim / 2;
    for (int64_t d = 0; d < rot_dim; d++) {
        const bool first = neox ? d < half : d % 2 == 0;
        const int64_t i = neox ? d % half : d / 2, step = neox ? half : 1;
        to->cosine[d] = angle[i];
        to->sine[d] = first ? -angle[half + i] : angle[half + i];
        to->other[d] = first ? d + step : d - step;
    }
}

static void turn(const bf16 *in, bf16 *out, const struct spread *at, int64_t rot_dim)
{
    float sum[256];
    for (int64_t d = 0; d < rot_dim; d++) {
        const float a = bf16_to_float(in[d]) * at->cosine[d], b = bf16_to_float(in[at->other[d]]) * at->sine[d];
        sum[d] = a + b;
    }
    for (int64_t d = 0; d < rot_dim; d++)
        out[d] = float_to_bf16(sum[d]);
}

/* key, value are [tokens, kv_heads, head_dim], query is [tokens, heads, head_dim], caches are [slots, kv_heads, head_dim] */
int rope_cache(const bf16 *key, const bf16 *value, const int64_t *positions, const int64_t *slots,
               const float *cos_sin, bf16 *query, bf16 *key_cache, bf16 *value_cache, int64_t tokens, int64_t heads,
               int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size, int64_t pages,
               int64_t max_position, bool neox, void *stream)
{
    const int64_t row = kv_heads * head_dim;
    (void)pages;
    (void)max_position;
    (void)stream;
#pragma omp parallel for schedule(static) if (tokens * heads * head_dim > 8192)
    for (int64_t t = 0; t < tokens; t++) {
        struct spread at;
        spread(&at, cos_sin + positions[t] * rot_dim, rot_dim, neox);
        if (slots[t] >= 0) {
            const int64_t page = slots[t] / page_size, place = slots[t] % page_size;
            bf16 *k = key_cache + (page * page_size + place) * row, *v = value_cache + (page * page_size + place) * row;
            for (int64_t h = 0; h < kv_heads; h++) {
                const bf16 *from = key + (t * kv_heads + h) * head_dim;
                turn(from, k + h * head_dim, &at, rot_dim);
                for (int64_t d = rot_dim; d < head_dim; d++)
                    k[h * head_dim + d] = from[d];
            }
            for (int64_t i = 0; i < row; i++)
                v[i] = value[t * row + i];
        }
        for (int64_t h = 0; h < heads; h++)
            turn(query + (t * heads + h) * head_dim, query + (t * heads + h) * head_dim, &at, rot_dim);
    }
    return 0;
}
