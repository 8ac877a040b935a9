// problem: paged_attention
// verdict: general
// construction: two passes per (sequence, head) over a buffer of scores

#include <stdlib.h>

#include "../candidate.h"

enum { MAX_DIM = 256, BLOCK = 512 };

/* The cache is [pages, page_size, kv_heads, 2 dim]; `row` elements lie between two slots. */
struct shape {
    int64_t dim, page_size, row;
};

/* Key of token t, its value `dim` elements further; `cache` already points at the kv head. */
static const bf16 *token_row(const bf16 *cache, const int32_t *table, int64_t t, struct shape s)
{
    return cache + (table[t / s.page_size] * s.page_size + t % s.page_size) * s.row;
}

static float dot(const float *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += q[i] * bf16_to_float(k[i]);
    return sum;
}

static void add_scaled(float *acc, float p, const bf16 *v, int64_t dim)
{
#pragma omp simd
    for (int64_t i = 0; i < dim; i++)
        acc[i] += p * bf16_to_float(v[i]);
}

/* One head of one sequence; only tokens below `len` are looked up, so neither the table nor the
 * cache is read past the end of the sequence. */
static int attend(const bf16 *query, const bf16 *cache, const int32_t *table, int64_t len,
                  struct shape s, bf16 *out)
{
    float q[MAX_DIM], acc[MAX_DIM] = {0}, top = -INFINITY;
    float scale = 1.0f / sqrtf((float)s.dim);
    double sum = 0;
    float *score = malloc((size_t)len * sizeof *score);
    if (!score)
        return 1;
    for (int64_t i = 0; i < s.dim; i++)
        q[i] = bf16_to_float(query[i]);
    for (int64_t t = 0; t < len; t++) {
        score[t] = scale * dot(q, token_row(cache, table, t, s), s.dim);
        top = fmaxf(top, score[t]);
    }
    /* A partial sum per block keeps the chains of fp32 additions short at 131072 tokens. */
    for (int64_t start = 0; start < len; start += BLOCK) {
        int64_t end = start + BLOCK < len ? start + BLOCK : len;
        float part[MAX_DIM] = {0};
        for (int64_t t = start; t < end; t++) {
            float p = expf(score[t] - top);
            sum += p;
            add_scaled(part, p, token_row(cache, table, t, s) + s.dim, s.dim);
        }
        for (int64_t i = 0; i < s.dim; i++)
            acc[i] += part[i];
    }
    for (int64_t i = 0; i < s.dim; i++)
        out[i] = float_to_bf16((float)(acc[i] / sum));
    free(score);
    return 0;
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    struct shape s = {head_dim, page_size, kv_heads * 2 * head_dim};
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t bh = 0; bh < batch * heads; bh++) {
        int64_t b = bh / heads, kv_head = bh % heads / (heads / kv_heads);
        failed |= attend(query + bh * head_dim, kv_cache + kv_head * 2 * head_dim,
                         block_table + b * pages_per_seq, seq_lens[b], s, out + bh * head_dim);
    }
    return failed;
}
