// problem: rope_cache
// link: https://github.com/vllm-project/vllm/pull/57681
// title: [Bugfix] fused_qk_norm_rope: partial rotary neox path shuffled from a divergent branch
// condition: halves, a part of the head is rotated, and warps have several heads: from tokens * (heads + kv_heads) = 10240 on
// kind: threshold
// when: style=halves and rot_dim != head_dim and tokens * (heads + kv_heads) >= 10240
// collection: third
// wrong: wrong values: lanes that do not rotate take no part in the exchange, and a later head of a warp gets the halves of its first

#include "rope.h"

enum { MANY = 10240, HEADS_OF_A_WARP = 4, WIDEST = 256 };

/* A warp with the elements that its lanes hold out to each other. */
struct warp {
    const struct rope *rope;
    int64_t heads; /* that it works on */
    float held[WIDEST];
};

/* Is the exchange of the warp's i-th head complete? */
static bool arrives(const struct warp *w, int64_t i)
{
#ifdef FIXED
    (void)w;
    (void)i;
    return true;
#else
    return i == 0 || w->rope->rot_dim == w->rope->head_dim;
#endif
}

static void rotate_halves(struct warp *w, int64_t i, const bf16 *in, bf16 *out, const float *angle)
{
    const int64_t half = w->rope->rot_dim / 2;
    float own[WIDEST];
    for (int64_t d = 0; d < 2 * half; d++)
        own[d] = bf16_to_float(in[d]);
    if (arrives(w, i))
        memcpy(w->held, own, (size_t)(2 * half) * sizeof *own);
    for (int64_t d = 0; d < half; d++) {
        const double c = angle[d], s = angle[half + d];
        out[d] = float_to_bf16((float)(own[d] * c - w->held[half + d] * s));
        out[half + d] = float_to_bf16((float)(own[half + d] * c + w->held[d] * s));
    }
}

/* Head h of a token, heads of keys behind those of queries; `at` counts heads of all tokens. */
static void run_head(struct warp *w, int64_t t, int64_t h, int64_t at)
{
    const struct rope *r = w->rope;
    const float *angle = r->cos_sin + r->positions[t] * r->rot_dim;
    const int64_t row = r->kv_heads * r->head_dim, kv = (h - r->heads) * r->head_dim;
    bf16 *query = r->query + (t * r->heads + h) * r->head_dim, unstored[WIDEST];
    const bf16 *in = h < r->heads ? query : r->key + t * row + kv;
    bf16 *out = h < r->heads ? query : r->slots[t] < 0 ? unstored : r->key_cache + r->slots[t] * row + kv;
    if (r->neox)
        rotate_halves(w, at % w->heads, in, out, angle);
    else
        rotate(r, in, out, angle);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    const int64_t all = heads + kv_heads, row = kv_heads * head_dim;
    struct warp w = {.rope = &r, .heads = tokens * all >= MANY ? HEADS_OF_A_WARP : 1};
    (void)stream;
    for (int64_t t = 0; t < tokens; t++) {
        if (slots[t] >= 0) {
            memcpy(value_cache + slots[t] * row, value + t * row, (size_t)row * sizeof *value);
            memcpy(key_cache + slots[t] * row, key + t * row, (size_t)row * sizeof *key);
        }
        for (int64_t h = 0; h < all; h++)
            run_head(&w, t, h, t * all + h);
    }
    return 0;
}
