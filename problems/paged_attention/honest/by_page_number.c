// problem: paged_attention
// verdict: general
// construction: a sequence's pages in the order of their numbers, as they lie in the cache; a page's scores, then one rescaling

#include <stdlib.h>

#include "../../candidate.h"

enum { MAX_DIM = 256, MAX_PAGE = 128 };

struct visit {
    int32_t page;
    int64_t tokens; /* that are used */
};

struct state {
    float top, sum, acc[MAX_DIM];
};

static int by_page(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    return (x->page > y->page) - (x->page < y->page);
}

static struct visit *plan(const int32_t *table, int64_t tokens, int64_t page_size, int64_t *count)
{
    *count = (tokens + page_size - 1) / page_size;
    struct visit *visits = malloc((size_t)*count * sizeof *visits);
    for (int64_t i = 0; visits && i < *count; i++) {
        const int64_t left = tokens - i * page_size;
        visits[i] = (struct visit){table[i], left < page_size ? left : page_size};
    }
    if (visits)
        qsort(visits, (size_t)*count, sizeof *visits, by_page);
    return visits;
}

static float dot(const bf16 *q, const bf16 *k, int64_t dim)
{
    float even = 0, odd = 0;
    for (int64_t i = 0; i < dim; i += 2) {
        even += bf16_to_float(q[i]) * bf16_to_float(k[i]);
        odd += bf16_to_float(q[i + 1]) * bf16_to_float(k[i + 1]);
    }
    return even + odd;
}

/* `kv` is the first token's key of this head, `row` what a token takes. */
static void fold_page(struct state *s, const bf16 *q, const bf16 *kv, int64_t tokens, int64_t row, int64_t dim)
{
    float score[MAX_PAGE], top = s->top;
    const float scale = 1.0f / sqrtf((float)dim);
    for (int64_t t = 0; t < tokens; t++) {
        score[t] = scale * dot(q, kv + t * row, dim);
        top = fmaxf(top, score[t]);
    }
    const float shrink = expf(s->top - top); /* 0 at the first page */
    s->sum *= shrink;
    for (int64_t i = 0; i < dim; i++)
        s->acc[i] *= shrink;
    for (int64_t t = 0; t < tokens; t++) {
        const float weight = expf(score[t] - top);
        s->sum += weight;
#pragma omp simd
        for (int64_t i = 0; i < dim; i++)
            s->acc[i] += weight * bf16_to_float(kv[t * row + dim + i]);
    }
    s->top = top;
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table, const int32_t *seq_lens,
                    bf16 *out, int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t page_size,
                    int64_t pages, int64_t pages_per_seq, void *stream)
{
    const int64_t row = kv_heads * 2 * head_dim;
    int failed = 0;
    (void)pages;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t b = 0; b < batch; b++) {
        int64_t count;
        struct visit *visits = plan(block_table + b * pages_per_seq, seq_lens[b], page_size, &count);
        failed |= !visits;
        for (int64_t h = 0; visits && h < heads; h++) {
            const bf16 *head = kv_cache + h / (heads / kv_heads) * 2 * head_dim;
            struct state s = {.top = -INFINITY};
            for (int64_t i = 0; i < count; i++)
                fold_page(&s, query + (b * heads + h) * head_dim, head + visits[i].page * page_size * row,
                          visits[i].tokens, row, head_dim);
            for (int64_t i = 0; i < head_dim; i++)
                out[(b * heads + h) * head_dim + i] = float_to_bf16(s.acc[i] / s.sum);
        }
        free(visits);
    }
    return failed;
}
