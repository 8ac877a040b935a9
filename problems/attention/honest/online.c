// problem: attention
// verdict: general
// construction: a running maximum over tiles of keys; probabilities rounded to bf16, the query's log2 e folded into the scale

#include <stdbool.h>
#include <stdlib.h>

#include "../../candidate.h"

enum { TILE = 64, MAX_DIM = 256 };

/* A query's head and the keys that it sees; keys and values lie `step` elements apart. */
struct row {
    const bf16 *q, *k, *v;
    int64_t keys, dim, step;
    float scale;
};

/* Scores of a tile in units of log2; returns their maximum. */
static float score_tile(const struct row *r, const float *q, int64_t first, int64_t count, float *score)
{
    float top = -INFINITY;
    for (int64_t t = 0; t < count; t++) {
        const bf16 *k = r->k + (first + t) * r->step;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < r->dim; i++)
            sum += q[i] * bf16_to_float(k[i]);
        score[t] = sum * r->scale * 1.44269504f;
        top = fmaxf(top, score[t]);
    }
    return top;
}

static void attend(const struct row *r, bf16 *out, float *lse)
{
    float q[MAX_DIM], acc[MAX_DIM] = {0}, score[TILE], top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < r->dim; i++)
        q[i] = bf16_to_float(r->q[i]);
    for (int64_t first = 0; first < r->keys; first += TILE) {
        const int64_t count = r->keys - first < TILE ? r->keys - first : TILE;
        const float best = fmaxf(top, score_tile(r, q, first, count, score)), shrink = exp2f(top - best);
        float part = 0;
        for (int64_t i = 0; i < r->dim; i++)
            acc[i] *= shrink;
        for (int64_t t = 0; t < count; t++) {
            const bf16 *v = r->v + (first + t) * r->step;
            const float p = exp2f(score[t] - best), rounded = bf16_to_float(float_to_bf16(p));
            part += p;
#pragma omp simd
            for (int64_t i = 0; i < r->dim; i++)
                acc[i] += rounded * bf16_to_float(v[i]);
        }
        sum = sum * shrink + part;
        top = best;
    }
    const float inverse = 1 / sum;
    for (int64_t i = 0; i < r->dim; i++)
        out[i] = float_to_bf16(acc[i] * inverse);
    *lse = (top + log2f(sum)) * 0.69314718f;
}

int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q,
              const int32_t *cu_seqlens_kv, bf16 *out, float *lse, int64_t batch, int64_t heads,
              int64_t kv_heads, int64_t head_dim, int64_t total_q, int64_t total_kv, float scale,
              bool causal, void *stream)
{
    const int64_t group = heads / kv_heads;
    for (int64_t b = 0; b < batch; b++) {
        const int64_t start = cu_seqlens_q[b], queries = cu_seqlens_q[b + 1] - start;
        const int64_t first = cu_seqlens_kv[b], keys = cu_seqlens_kv[b + 1] - first;
#pragma omp parallel for schedule(dynamic)
        for (int64_t j = 0; j < queries * heads; j++) {
            const int64_t i = j / heads, h = j % heads, row = (start + i) * heads + h;
            const int64_t sees = causal ? i + keys - queries + 1 : keys;
            const int64_t at = (first * kv_heads + h / group) * head_dim;
            const struct row r = {q + row * head_dim, k + at, v + at, sees, head_dim, kv_heads * head_dim, scale};
            attend(&r, out + row * head_dim, lse + row);
        }
    }
    return 0;
}
