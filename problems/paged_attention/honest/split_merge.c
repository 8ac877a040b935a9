// problem: paged_attention
// verdict: general
// construction: flash decoding, chunks of 256 tokens in parallel, then a merge per head

#include <stdlib.h>

#include "../../candidate.h"

enum { MAX_DIM = 256, CHUNK = 256 };

struct shape {
    int64_t heads, group, dim, page_size, row, pages_per_seq, chunks;
};

struct partial {
    float top, sum, acc[MAX_DIM];
};

static float dot(const bf16 *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += bf16_to_float(q[i]) * bf16_to_float(k[i]);
    return sum;
}

/* Tokens [start, start + count) of one head. */
static void attend_chunk(const bf16 *q, const bf16 *cache, const int32_t *table, int64_t start,
                         int64_t count, const struct shape *s, struct partial *part)
{
    const bf16 *k[CHUNK];
    float score[CHUNK], scale = 1.0f / sqrtf((float)s->dim);
    *part = (struct partial){.top = -INFINITY};
    for (int64_t j = 0; j < count; j++) {
        int64_t t = start + j;
        k[j] = cache + (table[t / s->page_size] * s->page_size + t % s->page_size) * s->row;
        score[j] = scale * dot(q, k[j], s->dim);
        part->top = fmaxf(part->top, score[j]);
    }
    for (int64_t j = 0; j < count; j++) {
        const bf16 *v = k[j] + s->dim;
        float p = expf(score[j] - part->top);
        part->sum += p;
#pragma omp simd
        for (int64_t i = 0; i < s->dim; i++)
            part->acc[i] += p * bf16_to_float(v[i]);
    }
}

static void merge(const struct partial *part, int64_t chunks, int64_t dim, bf16 *out)
{
    float top = -INFINITY, sum = 0, acc[MAX_DIM] = {0};
    for (int64_t c = 0; c < chunks; c++)
        top = fmaxf(top, part[c].top);
    for (int64_t c = 0; c < chunks; c++) {
        float weight = expf(part[c].top - top);
        sum += weight * part[c].sum;
        for (int64_t i = 0; i < dim; i++)
            acc[i] += weight * part[c].acc[i];
    }
    for (int64_t i = 0; i < dim; i++)
        out[i] = float_to_bf16(acc[i] / sum);
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    struct shape s = {heads, heads / kv_heads, head_dim, page_size, kv_heads * 2 * head_dim,
                      pages_per_seq, (pages_per_seq * page_size + CHUNK - 1) / CHUNK};
    struct partial *part = malloc((size_t)(heads * s.chunks) * sizeof *part);
    if (!part)
        return 1;
    for (int64_t b = 0; b < batch; b++) { /* one sequence at a time bounds the workspace */
        int64_t len = seq_lens[b], used = (len + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic) collapse(2)
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t c = 0; c < used; c++) {
                int64_t left = len - c * CHUNK;
                attend_chunk(query + (b * heads + h) * head_dim,
                             kv_cache + h / s.group * 2 * head_dim,
                             block_table + b * pages_per_seq, c * CHUNK,
                             left < CHUNK ? left : CHUNK, &s, &part[h * s.chunks + c]);
            }
        }
#pragma omp parallel for
        for (int64_t h = 0; h < heads; h++)
            merge(part + h * s.chunks, used, head_dim, out + (b * heads + h) * head_dim);
    }
    free(part);
    return 0;
}
