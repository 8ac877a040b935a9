// problem: moe_up
// verdict: general
// construction: strips of 16 columns, summed pairwise over k in fp32; silu by way of tanh
#include "../../candidate.h"

enum { STRIP = 16, CHAIN = 32 };

typedef float vec __attribute__((vector_size(STRIP * sizeof(float))));

/* Gate and up of one row in 16 columns. */
struct pair {
    vec gate, up;
};

/* A row of a strip, `columns` <= 16 wide; lanes past them are zero. */
static inline void load(const bf16 *weight, int64_t columns, vec *to)
{
    float lane[STRIP] = {0};

    for (int64_t j = 0; j < columns; j++)
        lane[j] = bf16_to_float(weight[j]);
    memcpy(to, lane, sizeof lane);
}

/* Terms first .. last - 1: short chains, then halves; the error grows with the depth, log2(k). */
static void sum_range(const bf16 *x, const bf16 *w_gate, const bf16 *w_up, int64_t first,
                      int64_t last, int64_t inter_dim, int64_t columns, struct pair *sum)
{
    struct pair other;
    vec weight;

    if (last - first > CHAIN) {
        int64_t middle = first + (last - first) / 2;
        sum_range(x, w_gate, w_up, first, middle, inter_dim, columns, sum);
        sum_range(x, w_gate, w_up, middle, last, inter_dim, columns, &other);
        sum->gate += other.gate;
        sum->up += other.up;
        return;
    }
    *sum = (struct pair){{0}, {0}};
    for (int64_t p = first; p < last; p++) {
        float factor = bf16_to_float(x[p]);
        load(w_gate + p * inter_dim, columns, &weight);
        sum->gate += factor * weight;
        load(w_up + p * inter_dim, columns, &weight);
        sum->up += factor * weight;
    }
}

/* x sigmoid(x), sigmoid(x) = (1 + tanh(x / 2)) / 2 */
static float silu(float gate)
{
    return 0.5f * gate * (1.0f + tanhf(0.5f * gate));
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int64_t strips = (inter_dim + STRIP - 1) / STRIP;

    (void)tokens;
    (void)stream;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t e = 0; e < experts; e++)
        for (int64_t s = 0; s < strips; s++) {
            int64_t j0 = s * STRIP, at = e * hidden_dim * inter_dim + j0;
            int64_t columns = inter_dim - j0 < STRIP ? inter_dim - j0 : STRIP;

            for (int64_t r = expert_offsets[e]; r < expert_offsets[e + 1]; r++) {
                struct pair sum;
                sum_range(hidden + r * hidden_dim, w_gate + at, w_up + at, 0, hidden_dim, inter_dim,
                          columns, &sum);
                for (int64_t j = 0; j < columns; j++)
                    out[r * inter_dim + j0 + j] = float_to_bf16(silu(sum.gate[j]) * sum.up[j]);
            }
        }
    return 0;
}
