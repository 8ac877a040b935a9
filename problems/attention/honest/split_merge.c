// problem: attention
// verdict: general
// construction: keys split four ways, each part normalized by itself token by token, parts merged by their log-sum-exp

#include <stdbool.h>
#include <stdlib.h>

#include "../../candidate.h"

enum { PARTS = 4, MAX_DIM = 256 };

/* Keys and values of one head of a sequence lie `step` elements apart. */
struct keys {
    const bf16 *k, *v;
    int64_t dim, step;
};

/* The result of a part: the mean of its values, and the log of its sum of exponentials. */
struct part {
    float mean[MAX_DIM], lse;
};

static void attend_part(const float *q, const struct keys *s, int64_t first, int64_t end, struct part *out)
{
    float top = -INFINITY, sum = 0;
    memset(out->mean, 0, sizeof out->mean);
    for (int64_t t = first; t < end; t++) {
        const bf16 *k = s->k + t * s->step, *v = s->v + t * s->step;
        float score = 0;
#pragma omp simd reduction(+ : score)
        for (int64_t i = 0; i < s->dim; i++)
            score += q[i] * bf16_to_float(k[i]);
        if (score > top) {
            const float shrink = expf(top - score);
            sum *= shrink;
            for (int64_t i = 0; i < s->dim; i++)
                out->mean[i] *= shrink;
            top = score;
        }
        const float p = expf(score - top);
        sum += p;
#pragma omp simd
        for (int64_t i = 0; i < s->dim; i++)
            out->mean[i] += p * bf16_to_float(v[i]);
    }
    for (int64_t i = 0; i < s->dim; i++)
        out->mean[i] /= sum;
    out->lse = top + logf(sum);
}

/* Into the first of two parts: a weight is the share of the whole sum that a part has. */
static void merge(struct part *into, const struct part *other, int64_t dim)
{
    const float top = fmaxf(into->lse, other->lse);
    const float mine = expf(into->lse - top), its = expf(other->lse - top), whole = mine + its;
    for (int64_t i = 0; i < dim; i++)
        into->mean[i] = into->mean[i] * (mine / whole) + other->mean[i] * (its / whole);
    into->lse = top + logf(whole);
}

static void attend(const bf16 *query, const struct keys *s, int64_t sees, float scale, bf16 *out, float *lse)
{
    const int64_t chunk = (sees + PARTS - 1) / PARTS;
    float q[MAX_DIM]; /* in single, so scaled without a loss that counts */
    struct part all, next;
    for (int64_t i = 0; i < s->dim; i++)
        q[i] = bf16_to_float(query[i]) * scale;
    for (int64_t first = 0; first < sees; first += chunk) {
        const int64_t end = first + chunk < sees ? first + chunk : sees;
        attend_part(q, s, first, end, first ? &next : &all);
        if (first)
            merge(&all, &next, s->dim);
    }
    for (int64_t i = 0; i < s->dim; i++)
        out[i] = float_to_bf16(all.mean[i]);
    *lse = all.lse;
}

int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q,
              const int32_t *cu_seqlens_kv, bf16 *out, float *lse, int64_t batch, int64_t heads,
              int64_t kv_heads, int64_t head_dim, int64_t total_q, int64_t total_kv, float scale,
              bool causal, void *stream)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t b = 0; b < batch; b++)
        for (int64_t h = 0; h < heads; h++) {
            const int64_t at = ((int64_t)cu_seqlens_kv[b] * kv_heads + h / (heads / kv_heads)) * head_dim;
            const struct keys s = {k + at, v + at, head_dim, kv_heads * head_dim};
            const int64_t keys = cu_seqlens_kv[b + 1] - cu_seqlens_kv[b];
            for (int64_t i = cu_seqlens_q[b]; i < cu_seqlens_q[b + 1]; i++)
                attend(q + (i * heads + h) * head_dim, &s, causal ? keys - (cu_seqlens_q[b + 1] - 1 - i) : keys,
                       scale, out + (i * heads + h) * head_dim, lse + i * heads + h);
        }
    return 0;
}
