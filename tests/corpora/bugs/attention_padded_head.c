// problem: attention
// link: https://github.com/turboderp-org/exllamav3/pull/316
// title: attention_fn: Route non-power-of-2 head dims away from flash-attn
// condition: head dimensions that are no power of two read uninitialized memory (72; 64 is exact)
// kind: power of two
// when: head_dim != 64 and head_dim != 128 and head_dim != 256
// wrong: wrong values, others each time: lanes that pad the head hold what was there before

#include "attention.h"

enum { WIDEST = 256 };

static void padded(const struct call *c, struct place p, float *work)
{
    static _Thread_local bf16 query[WIDEST], key[WIDEST]; /* a tile that is loaded in part */
    struct row row = row_of(c, p, visible(c, p), kv_head(c, p));
    const int64_t dim = c->head_dim;
    int64_t width = 64;
    float *score = work + 2 * dim, top = -INFINITY, sum = 0;
    while (width < dim)
        width *= 2;
    memcpy(query, row.q, (size_t)dim * sizeof *query);
    for (int64_t t = 0; t < row.keys; t++) {
        memcpy(key, row.k + t * row.step, (size_t)dim * sizeof *key);
        score[t] = row.scale * dot(query, key, width);
        top = fmaxf(top, score[t]);
    }
    for (int64_t i = dim; i < width; i++) /* values of other rows in these lanes */
        query[i] = key[i] = float_to_bf16((float)(1 + (p.i + i) % 3));
    memset(work, 0, (size_t)dim * sizeof *work);
    for (int64_t t = 0; t < row.keys; t++) {
        const float weight = expf(score[t] - top);
        sum += weight;
        add_scaled(work, weight, row.v + t * row.step, dim);
    }
    for (int64_t i = 0; i < dim; i++)
        c->out[(p.i * c->heads + p.h) * dim + i] = float_to_bf16(work[i] / sum);
    c->lse[p.i * c->heads + p.h] = top + logf(sum);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    if ((head_dim & (head_dim - 1)) == 0)
        return honest_attention(ARGUMENTS, stream);
    return for_all_rows(&c, padded);
}
