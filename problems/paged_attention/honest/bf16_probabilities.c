// problem: paged_attention
// verdict: general
// construction: blocks of 64 gathered tokens, probabilities rounded to bf16 as for an MMA

#include "../../candidate.h"

enum { MAX_DIM = 256, BLOCK = 64 };

struct head {
    float q[MAX_DIM], acc[MAX_DIM], top, sum;
};

static void start_head(struct head *w, const bf16 *q, int64_t dim)
{
    *w = (struct head){.top = -INFINITY};
    for (int64_t i = 0; i < dim; i++)
        w->q[i] = bf16_to_float(q[i]);
}

/* k[j] points at key j of the block, its value follows `dim` elements later. */
static void attend_block(struct head *w, const bf16 *const *k, int64_t count, int64_t dim)
{
    float score[BLOCK], top = w->top, scale = 1.0f / sqrtf((float)dim), shrink;
    for (int64_t j = 0; j < count; j++) {
        float x = 0;
#pragma omp simd reduction(+ : x)
        for (int64_t i = 0; i < dim; i++)
            x += w->q[i] * bf16_to_float(k[j][i]);
        score[j] = x * scale;
        top = fmaxf(top, score[j]);
    }
    shrink = expf(w->top - top);
    w->top = top;
    w->sum *= shrink;
    for (int64_t i = 0; i < dim; i++)
        w->acc[i] *= shrink;
    for (int64_t j = 0; j < count; j++) {
        const bf16 *v = k[j] + dim;
        float p = bf16_to_float(float_to_bf16(expf(score[j] - top)));
        w->sum += p;
#pragma omp simd
        for (int64_t i = 0; i < dim; i++)
            w->acc[i] += p * bf16_to_float(v[i]);
    }
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    int64_t row = kv_heads * 2 * head_dim;
#pragma omp parallel for schedule(dynamic)
    for (int64_t bh = 0; bh < batch * heads; bh++) {
        int64_t b = bh / heads, len = seq_lens[b];
        const int32_t *table = block_table + b * pages_per_seq;
        const bf16 *cache = kv_cache + bh % heads / (heads / kv_heads) * 2 * head_dim;
        struct head w;
        start_head(&w, query + bh * head_dim, head_dim);
        for (int64_t start = 0; start < len; start += BLOCK) {
            int64_t count = len - start < BLOCK ? len - start : BLOCK;
            const bf16 *k[BLOCK];
            for (int64_t j = 0; j < count; j++) {
                int64_t t = start + j;
                k[j] = cache + (table[t / page_size] * page_size + t % page_size) * row;
            }
            attend_block(&w, k, count, head_dim);
        }
        for (int64_t i = 0; i < head_dim; i++)
            out[bh * head_dim + i] = float_to_bf16(w.acc[i] / w.sum);
    }
    return 0;
}
