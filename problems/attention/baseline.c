// problem: attention
// verdict: general
// construction: two passes per (query, head) over a buffer of scores

#include <stdbool.h>
#include <stdlib.h>

#include "../candidate.h"

enum { BLOCK = 512 };

/* A query's head and the keys that it sees; keys and values lie `step` elements apart. */
struct row {
    const bf16 *q, *k, *v;
    int64_t keys, dim, step;
    float scale;
};

static float dot(const bf16 *q, const bf16 *k, int64_t dim)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < dim; i++)
        sum += bf16_to_float(q[i]) * bf16_to_float(k[i]);
    return sum;
}

static void add_scaled(float *acc, float p, const bf16 *v, int64_t dim)
{
#pragma omp simd
    for (int64_t i = 0; i < dim; i++)
        acc[i] += p * bf16_to_float(v[i]);
}

/* `work` has room for 2 dim + keys. */
static void attend(struct row r, float *work, bf16 *out, float *lse)
{
    float *acc = work, *part = work + r.dim, *score = work + 2 * r.dim, top = -INFINITY;
    double sum = 0;
    for (int64_t t = 0; t < r.keys; t++) {
        score[t] = r.scale * dot(r.q, r.k + t * r.step, r.dim);
        top = fmaxf(top, score[t]);
    }
    memset(acc, 0, (size_t)r.dim * sizeof *acc);
    /* A partial sum per block keeps the chains of fp32 additions short. */
    for (int64_t start = 0; start < r.keys; start += BLOCK) {
        const int64_t end = start + BLOCK < r.keys ? start + BLOCK : r.keys;
        memset(part, 0, (size_t)r.dim * sizeof *part);
        for (int64_t t = start; t < end; t++) {
            const float p = expf(score[t] - top);
            sum += p;
            add_scaled(part, p, r.v + t * r.step, r.dim);
        }
        for (int64_t i = 0; i < r.dim; i++)
            acc[i] += part[i];
    }
    for (int64_t i = 0; i < r.dim; i++)
        out[i] = float_to_bf16((float)(acc[i] / sum));
    *lse = (float)(top + log(sum));
}

int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q,
              const int32_t *cu_seqlens_kv, bf16 *out, float *lse, int64_t batch, int64_t heads,
              int64_t kv_heads, int64_t head_dim, int64_t total_q, int64_t total_kv, float scale,
              bool causal, void *stream)
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        float *work = malloc((size_t)(2 * head_dim + total_kv + 1) * sizeof *work);
        failed |= !work;
#pragma omp for schedule(dynamic)
        for (int64_t row = 0; row < total_q * heads; row++) {
            const int64_t i = row / heads, h = row % heads;
            int64_t b = 0;
            while (cu_seqlens_q[b + 1] <= i)
                b++;
            const int64_t first = cu_seqlens_kv[b], start = (first * kv_heads + h / (heads / kv_heads)) * head_dim;
            const int64_t hidden = causal ? cu_seqlens_q[b + 1] - 1 - i : 0;
            struct row r = {q + row * head_dim, k + start, v + start, cu_seqlens_kv[b + 1] - first - hidden,
                            head_dim, kv_heads * head_dim, scale};
            if (work)
                attend(r, work, out + row * head_dim, lse + row);
        }
        free(work);
    }
    return failed;
}
