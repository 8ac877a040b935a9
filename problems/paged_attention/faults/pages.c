// problem: paged_attention
// verdict: general
// construction: online softmax page by page, a score per slot in use; heads over the cores

#include "../../candidate.h"

enum { MAX_DIM = 256, MAX_PAGE = 128 };

struct shape {
    int64_t dim, page_size, row; /* row: elements from one slot of the cache to the next */
};

struct state {
    float q[MAX_DIM], acc[MAX_DIM], top, sum;
};

static float dot(const float *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += q[i] * bf16_to_float(k[i]);
    return sum;
}

/* Online softmax over `count` tokens of one page. */
static void attend_page(struct state *st, const bf16 *page, int64_t count, struct shape s)
{
    float score[MAX_PAGE], top = st->top, shrink, part[MAX_DIM] = {0};
    for (int64_t j = 0; j < count; j++) {
        score[j] = dot(st->q, page + j * s.row, s.dim);
        top = fmaxf(top, score[j]);
    }
    shrink = expf(st->top - top);
    st->top = top;
    st->sum *= shrink;
    for (int64_t j = 0; j < count; j++) {
        const bf16 *v = page + j * s.row + s.dim;
        float p = expf(score[j] - top);
        st->sum += p;
#pragma omp simd
        for (int64_t i = 0; i < s.dim; i++)
            part[i] += p * bf16_to_float(v[i]);
    }
    for (int64_t i = 0; i < s.dim; i++)
        st->acc[i] = st->acc[i] * shrink + part[i];
}

/* One head of one sequence, page by page. */
static void attend(const bf16 *query, const bf16 *cache, const int32_t *table, int64_t len,
                   struct shape s, bf16 *out)
{
    float scale = 1.0f / sqrtf((float)s.dim);
    struct state st = {.top = -INFINITY};
    for (int64_t i = 0; i < s.dim; i++)
        st.q[i] = scale * bf16_to_float(query[i]);
    for (int64_t n = 0; n * s.page_size < len; n++) {
        int64_t left = len - n * s.page_size;
        attend_page(&st, cache + table[n] * s.page_size * s.row,
                    left < s.page_size ? left : s.page_size, s);
    }
    for (int64_t i = 0; i < s.dim; i++)
        out[i] = float_to_bf16(st.acc[i] / st.sum);
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    struct shape s = {head_dim, page_size, kv_heads * 2 * head_dim};
#pragma omp parallel for schedule(dynamic)
    for (int64_t bh = 0; bh < batch * heads; bh++) {
        int64_t b = bh / heads, kv_head = bh % heads / (heads / kv_heads);
        attend(query + bh * head_dim, kv_cache + kv_head * 2 * head_dim,
               block_table + b * pages_per_seq, seq_lens[b], s, out + bh * head_dim);
    }
    return 0;
}
