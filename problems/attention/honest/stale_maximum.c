// problem: attention
// verdict: general
// construction: what is subtracted is replaced only when a score is 2^8 above it; 2^x by a polynomial; keys from the last to the first

#include "../../candidate.h"

enum { MAX_DIM = 256, SLACK = 8 };

static const float LOG2E = 1.4426950408889634f, LN2 = 0.6931471805599453f;

struct state {
    float base, sum, acc[MAX_DIM]; /* base 2 */
};

/* 2^x within a few 2^-24, 0 below 2^-126: seven terms of its series, the eighth of which is 2^-23 at |f| = 1/2. */
static float power_of_two(float x)
{
    static const float c[] = {1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f,
                              2.4022651e-1f, 6.9314718e-1f, 1.0f};
    const float whole = rintf(x), f = x - whole;
    float p = 0;
    if (x < -126)
        return 0;
    for (int i = 0; i < 7; i++)
        p = p * f + c[i];
    return ldexpf(p, (int)whole);
}

static float dot(const float *q, const bf16 *k, int64_t dim)
{
    float lane[8] = {0};
    for (int64_t d = 0; d < dim; d += 8)
        for (int i = 0; i < 8; i++)
            lane[i] += q[d + i] * bf16_to_float(k[d + i]);
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/* Sums stay below 2^8 times as many keys as there are. */
static void fold(struct state *s, float score, const bf16 *v, int64_t dim)
{
    if (!(score <= s->base + SLACK)) {
        const float shrink = s->base == -INFINITY ? 0 : power_of_two(s->base - score);
        s->base = score;
        s->sum *= shrink;
        for (int64_t d = 0; d < dim; d++)
            s->acc[d] *= shrink;
    }
    const float weight = power_of_two(score - s->base);
    s->sum += weight;
#pragma omp simd
    for (int64_t d = 0; d < dim; d++)
        s->acc[d] += weight * bf16_to_float(v[d]);
}

int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *cu_seqlens_q, const int32_t *cu_seqlens_kv,
              bf16 *out, float *lse, int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,
              int64_t total_kv, float scale, bool causal, void *stream)
{
    (void)total_q;
    (void)total_kv;
    (void)stream;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t b = 0; b < batch; b++)
        for (int64_t h = 0; h < heads; h++) {
            const int64_t from = cu_seqlens_q[b], to = cu_seqlens_q[b + 1], first = cu_seqlens_kv[b];
            const int64_t step = kv_heads * head_dim, head = h / (heads / kv_heads) * head_dim;
            for (int64_t i = from; i < to; i++) {
                const int64_t at = (i * heads + h) * head_dim;
                struct state s = {.base = -INFINITY};
                float scaled[MAX_DIM];
                for (int64_t d = 0; d < head_dim; d++)
                    scaled[d] = bf16_to_float(q[at + d]) * (scale * LOG2E);
                for (int64_t t = cu_seqlens_kv[b + 1] - (causal ? to - i : 1); t >= first; t--)
                    fold(&s, dot(scaled, k + t * step + head, head_dim), v + t * step + head, head_dim);
                for (int64_t d = 0; d < head_dim; d++)
                    out[at + d] = float_to_bf16(s.acc[d] / s.sum);
                lse[i * heads + h] = logf(s.sum) + s.base * LN2;
            }
        }
    return 0;
}
