/* Rotation and cache of a token after another, for candidates that differ from an honest one in a step. */
#include <stdbool.h>

#include "../../../problems/candidate.h"

struct rope {
    const bf16 *key, *value;
    const int64_t *positions, *slots;
    const float *cos_sin;
    bf16 *query, *key_cache, *value_cache;
    int64_t tokens, heads, kv_heads, head_dim, rot_dim, page_size, pages, max_position;
    bool neox;
};

/* Elements `first` and `second` of a vector, turned by the i-th angle of a table's row. */
static inline void turn(const bf16 *in, bf16 *out, int64_t first, int64_t second, double c, double s)
{
    const double x1 = bf16_to_float(in[first]), x2 = bf16_to_float(in[second]);
    out[first] = float_to_bf16((float)(x1 * c - x2 * s));
    out[second] = float_to_bf16((float)(x2 * c + x1 * s));
}

/* The first rot_dim elements of a vector; the others are not touched. */
static inline void rotate(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    const int64_t half = r->rot_dim / 2;
    for (int64_t i = 0; i < half; i++)
        turn(in, out, r->neox ? i : 2 * i, r->neox ? i + half : 2 * i + 1, angle[i], angle[half + i]);
}

typedef void rotate_fn(const struct rope *r, const bf16 *in, bf16 *out, const float *angle);

/* Queries in place, keys to the cache, with these two rotations. */
static inline int rope_run(const struct rope *r, rotate_fn *of_query, rotate_fn *of_key)
{
    const int64_t row = r->kv_heads * r->head_dim;
    for (int64_t t = 0; t < r->tokens; t++) {
        const float *angle = r->cos_sin + r->positions[t] * r->rot_dim;
        for (int64_t h = 0; h < r->heads; h++) {
            bf16 *q = r->query + (t * r->heads + h) * r->head_dim;
            of_query(r, q, q, angle);
        }
        if (r->slots[t] < 0)
            continue;
        memcpy(r->value_cache + r->slots[t] * row, r->value + t * row, (size_t)row * sizeof *r->value);
        memcpy(r->key_cache + r->slots[t] * row, r->key + t * row, (size_t)row * sizeof *r->key);
        for (int64_t h = 0; h < r->kv_heads; h++)
            of_key(r, r->key + t * row + h * r->head_dim, r->key_cache + r->slots[t] * row + h * r->head_dim,
                   angle);
    }
    return 0;
}

#define PARAMETERS                                                                                           \
    const bf16 *key, const bf16 *value, const int64_t *positions, const int64_t *slots,                      \
        const float *cos_sin, bf16 *query, bf16 *key_cache, bf16 *value_cache, int64_t tokens,               \
        int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t rot_dim, int64_t page_size,               \
        int64_t pages, int64_t max_position, bool neox, void *stream
#define ARGUMENTS                                                                                            \
    key, value, positions, slots, cos_sin, query, key_cache, value_cache, tokens, heads, kv_heads, head_dim, \
        rot_dim, page_size, pages, max_position, neox
