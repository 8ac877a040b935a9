// problem: paged_attention
// verdict: general
// construction: one task per kv head, pages converted to fp32 once and shared by its group

#include <stdlib.h>

#include "../../candidate.h"

enum { MAX_DIM = 256, MAX_GROUP = 16, MAX_PAGE = 128 };

struct work {
    float q[MAX_GROUP][MAX_DIM], acc[MAX_GROUP][MAX_DIM];
    float top[MAX_GROUP], sum[MAX_GROUP];
    float kv[MAX_PAGE][2 * MAX_DIM]; /* the slots of the page that hold tokens */
};

static void load_page(struct work *w, const bf16 *page, int64_t count, int64_t row, int64_t width)
{
    for (int64_t j = 0; j < count; j++) {
#pragma omp simd
        for (int64_t i = 0; i < width; i++)
            w->kv[j][i] = bf16_to_float(page[j * row + i]);
    }
}

/* Head g of the group against the loaded page. */
static void attend_page(struct work *w, int64_t g, int64_t count, int64_t dim)
{
    float p[MAX_PAGE], top = w->top[g], shrink, *acc = w->acc[g];
    for (int64_t j = 0; j < count; j++) {
        float x = 0;
#pragma omp simd reduction(+ : x)
        for (int64_t i = 0; i < dim; i++)
            x += w->q[g][i] * w->kv[j][i];
        p[j] = x;
        top = fmaxf(top, x);
    }
    shrink = expf(w->top[g] - top);
    w->top[g] = top;
    w->sum[g] *= shrink;
#pragma omp simd
    for (int64_t i = 0; i < dim; i++)
        acc[i] *= shrink;
    for (int64_t j = 0; j < count; j++) {
        float e = expf(p[j] - top);
        w->sum[g] += e;
#pragma omp simd
        for (int64_t i = 0; i < dim; i++)
            acc[i] += e * w->kv[j][dim + i];
    }
}

int paged_attention(const bf16 *query, const bf16 *kv_cache, const int32_t *block_table,
                    const int32_t *seq_lens, bf16 *out, int64_t batch, int64_t heads,
                    int64_t kv_heads, int64_t head_dim, int64_t page_size, int64_t pages,
                    int64_t pages_per_seq, void *stream)
{
    int64_t group = heads / kv_heads, dim = head_dim, row = kv_heads * 2 * dim;
    float scale = 1.0f / sqrtf((float)dim); /* into the fp32 copy of q: nothing rounds to bf16 */
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t task = 0; task < batch * kv_heads; task++) {
        int64_t b = task / kv_heads, len = seq_lens[b], first = task * group * dim;
        struct work *w = calloc(1, sizeof *w);
        if (!w) {
            failed = 1;
            continue;
        }
        for (int64_t g = 0; g < group; g++) {
            w->top[g] = -INFINITY;
            for (int64_t i = 0; i < dim; i++)
                w->q[g][i] = scale * bf16_to_float(query[first + g * dim + i]);
        }
        for (int64_t start = 0, n = 0; start < len; start += page_size, n++) {
            int64_t page = block_table[b * pages_per_seq + n];
            int64_t count = len - start < page_size ? len - start : page_size;
            load_page(w, kv_cache + page * page_size * row + task % kv_heads * 2 * dim, count, row,
                      2 * dim);
            for (int64_t g = 0; g < group; g++)
                attend_page(w, g, count, dim);
        }
        for (int64_t g = 0; g < group; g++)
            for (int64_t i = 0; i < dim; i++)
                out[first + g * dim + i] = float_to_bf16(w->acc[g][i] / w->sum[g]);
        free(w);
    }
    return failed;
}
