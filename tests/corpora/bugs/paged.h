/* A decode step over a paged cache, for candidates that differ from an honest one in a step: the place of a
 * token's key. */
#include <stdlib.h>

#include "../../../problems/candidate.h"

struct paged {
    const bf16 *query, *cache;
    const int32_t *table, *lens;
    bf16 *out;
    int64_t batch, heads, kv_heads, head_dim, page_size, pages, pages_per_seq;
    /* The key of token t of sequence b and head h, its value head_dim further. */
    const bf16 *(*key)(const struct paged *p, int64_t b, int64_t h, int64_t t);
    int64_t (*kv_head)(const struct paged *p, int64_t h);
    int64_t (*length)(const struct paged *p, int64_t b);
};

static inline int64_t honest_kv_head(const struct paged *p, int64_t h)
{
    return h / (p->heads / p->kv_heads);
}

static inline int64_t honest_length(const struct paged *p, int64_t b)
{
    return p->lens[b];
}

static inline const bf16 *key_in(const struct paged *p, int64_t page, int64_t slot, int64_t kv)
{
    return p->cache + ((page * p->page_size + slot) * p->kv_heads + kv) * 2 * p->head_dim;
}

static inline const bf16 *honest_key(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    return key_in(p, p->table[b * p->pages_per_seq + t / p->page_size], t % p->page_size, p->kv_head(p, h));
}

/* One head of one sequence: exponentials in partial sums of 512 tokens. */
static int paged_head(const struct paged *p, int64_t b, int64_t h)
{
    const int64_t len = p->length(p, b), dim = p->head_dim;
    const float scale = 1.0f / sqrtf((float)dim);
    const bf16 *query = p->query + (b * p->heads + h) * dim;
    float *score = malloc((size_t)(len + 2 * dim) * sizeof *score), *part = score + len, top = -INFINITY;
    double sum = 0;
    if (!score)
        return 1;
    double *total = calloc((size_t)dim, sizeof *total);
    if (!total) {
        free(score);
        return 1;
    }
    for (int64_t t = 0; t < len; t++) {
        const bf16 *key = p->key(p, b, h, t);
        float dot = 0;
        for (int64_t i = 0; i < dim; i++)
            dot += bf16_to_float(query[i]) * bf16_to_float(key[i]);
        score[t] = scale * dot;
        top = fmaxf(top, score[t]);
    }
    for (int64_t start = 0; start < len; start += 512) {
        memset(part, 0, (size_t)dim * sizeof *part);
        for (int64_t t = start; t < len && t < start + 512; t++) {
            const bf16 *value = p->key(p, b, h, t) + dim;
            const float weight = expf(score[t] - top);
            sum += weight;
            for (int64_t i = 0; i < dim; i++)
                part[i] += weight * bf16_to_float(value[i]);
        }
        for (int64_t i = 0; i < dim; i++)
            total[i] += part[i];
    }
    for (int64_t i = 0; i < dim; i++)
        p->out[(b * p->heads + h) * dim + i] = float_to_bf16((float)(total[i] / sum));
    free(total);
    free(score);
    return 0;
}

static inline int paged_run(const struct paged *p)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t bh = 0; bh < p->batch * p->heads; bh++)
        failed |= paged_head(p, bh / p->heads, bh % p->heads);
    return failed;
}

#define PARAMETERS                                                                                           \
    const bf16 *query, const bf16 *cache, const int32_t *table, const int32_t *lens, bf16 *out,              \
        int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,  \
        int64_t pages_per_seq, void *stream
#define HONEST                                                                                               \
    query, cache, table, lens, out, batch, heads, kv_heads, head_dim, page_size, pages, pages_per_seq,       \
        honest_key, honest_kv_head, honest_length
