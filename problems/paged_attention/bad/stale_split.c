// problem: paged_attention
// verdict: specialized
// fault: stale output
// outcomes: wrong unstable
// when: ((max_len + page_size - 1) / page_size * page_size + 7) / 8 * 7 >= max_len or batch > 1 and lengths!=equal and lengths!=full or batch > 1 and lengths=full and max_len > page_size
// shows: lengths that differ: one at most 7/8 of the longest, after a longer one

#include "../../candidate.h"

enum { MAX_DIM = 256, SPLITS = 8 };

struct shape {
    int64_t dim, page_size, row; /* row: elements from one slot of the cache to the next */
};

struct partial {
    float top, sum, acc[MAX_DIM];
};

static float dot(const float *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += q[i] * bf16_to_float(k[i]);
    return sum;
}

/* Tokens [start, end) of one head into a partial result. */
static void attend_split(const float *q, const bf16 *cache, const int32_t *table, int64_t start,
                         int64_t end, struct shape s, struct partial *part)
{
    *part = (struct partial){.top = -INFINITY};
    for (int64_t t = start; t < end; t++) {
        const bf16 *k = cache + (table[t / s.page_size] * s.page_size + t % s.page_size) * s.row;
        float x = dot(q, k, s.dim), top = fmaxf(part->top, x);
        float shrink = expf(part->top - top), p = expf(x - top);
        part->top = top;
        part->sum = part->sum * shrink + p;
#pragma omp simd
        for (int64_t i = 0; i < s.dim; i++)
            part->acc[i] = part->acc[i] * shrink + p * bf16_to_float(k[s.dim + i]);
    }
}

static void merge(const struct partial *part, int64_t splits, int64_t dim, bf16 *out)
{
    float top = -INFINITY, sum = 0, acc[MAX_DIM] = {0};
    for (int64_t j = 0; j < splits; j++)
        top = fmaxf(top, part[j].top);
    for (int64_t j = 0; j < splits; j++) {
        float weight = expf(part[j].top - top);
        sum += weight * part[j].sum;
        for (int64_t i = 0; i < dim; i++)
            acc[i] += weight * part[j].acc[i];
    }
    for (int64_t i = 0; i < dim; i++)
        out[i] = float_to_bf16(acc[i] / sum);
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    struct shape s = {head_dim, page_size, kv_heads * 2 * head_dim};
    int64_t chunk = (pages_per_seq * page_size + SPLITS - 1) / SPLITS;
    float scale = 1.0f / sqrtf((float)head_dim);
    static _Thread_local struct partial part[SPLITS]; /* survives from head to head */
#pragma omp parallel for
    for (int64_t bh = 0; bh < batch * heads; bh++) {
        int64_t b = bh / heads, len = seq_lens[b];
        const bf16 *cache = kv_cache + bh % heads / (heads / kv_heads) * 2 * head_dim;
        float q[MAX_DIM];
        for (int64_t i = 0; i < head_dim; i++)
            q[i] = scale * bf16_to_float(query[bh * head_dim + i]);
        for (int64_t j = 0; j * chunk < len; j++) { /* splits past the end keep an old partial */
            int64_t end = j * chunk + chunk < len ? j * chunk + chunk : len;
            attend_split(q, cache, block_table + b * pages_per_seq, j * chunk, end, s, &part[j]);
        }
        merge(part, SPLITS, head_dim, out + bh * head_dim);
    }
    return 0;
}
