// problem: paged_attention
// verdict: general
// construction: one pass with online softmax per (sequence, head), no buffer of scores

#include "../../candidate.h"

enum { MAX_DIM = 256 };

struct state {
    float top, acc[MAX_DIM];
    double sum;
};

/* Fold in one token with score x and value v. */
static void fold(struct state *st, float x, const bf16 *v, int64_t dim)
{
    float p = 1;
    if (x > st->top) {
        float shrink = expf(st->top - x); /* 0 at the first token: exp(-inf) */
        st->top = x;
        st->sum *= shrink;
        for (int64_t i = 0; i < dim; i++)
            st->acc[i] *= shrink;
    } else {
        p = expf(x - st->top);
    }
    st->sum += p;
#pragma omp simd
    for (int64_t i = 0; i < dim; i++)
        st->acc[i] += p * bf16_to_float(v[i]);
}

static float dot(const bf16 *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += bf16_to_float(q[i]) * bf16_to_float(k[i]);
    return sum;
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    int64_t row = kv_heads * 2 * head_dim;
    float scale = 1.0f / sqrtf((float)head_dim);
#pragma omp parallel for schedule(dynamic) collapse(2)
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t h = 0; h < heads; h++) {
            const int32_t *table = block_table + b * pages_per_seq;
            const bf16 *cache = kv_cache + h / (heads / kv_heads) * 2 * head_dim;
            const bf16 *q = query + (b * heads + h) * head_dim;
            bf16 *o = out + (b * heads + h) * head_dim;
            struct state st = {.top = -INFINITY};
            for (int64_t t = 0; t < seq_lens[b]; t++) {
                const bf16 *k =
                    cache + (table[t / page_size] * page_size + t % page_size) * row;
                fold(&st, scale * dot(q, k, head_dim), k + head_dim, head_dim);
            }
            for (int64_t i = 0; i < head_dim; i++)
                o[i] = float_to_bf16((float)(st.acc[i] / st.sum));
        }
    }
    return 0;
}
