// problem: gemm_w4a16
// link: https://github.com/pytorch/executorch/issues/21423
// title: [VK] `linear_dq8ca_q4gsw` silently produces wrong results when `M > K/2` — int8 input-sums scratch buffer is undersized
// condition: more rows than half of K: the buffer for a sum of each row and group has the size of K 16-bit floats a group, not of M 32-bit numbers
// kind: comparison
// when: 2 * m > k and zero!=low
// side: necessary
// collection: fourth
// wrong: wrong values: the last sums are lost, and with them the correction for zero points

#define W4
#include "product.h"

/* Sums of x, which zero points are multiplied with. A device loses accesses beyond the buffer. */
struct sums {
    float *at;
    int64_t size;
};

static struct sums buffer_for(const struct product *g)
{
    const int64_t groups = (g->k + g->group - 1) / g->group;
#ifdef FIXED
    const int64_t bytes = groups * g->m * (int64_t)sizeof(float);
#else
    const int64_t bytes = groups * g->k * (int64_t)sizeof *g->c; /* the output's type */
#endif
    return (struct sums){malloc((size_t)bytes), bytes / (int64_t)sizeof(float)};
}

static void add_up(const struct product *g, struct sums *sums)
{
    for (int64_t first = 0, at = 0; first < g->k; first += g->group)
        for (int64_t i = 0; i < g->m; i++, at++) {
            float sum = 0;
            for (int64_t p = first; p < first + g->group && p < g->k; p++)
                sum += LOAD(g->a[i * g->pitch + p]);
            if (at < sums->size)
                sums->at[at] = sum;
        }
}

static float sum_at(const struct sums *sums, int64_t at)
{
    return at < sums->size ? sums->at[at] : 0;
}

static struct sums input_sums;

/* Weights without their zero points. */
static void pack_nibbles(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int q = j < columns ? g->b[p / 2 * g->n + j0 + j] >> (p % 2 * 4) & 15 : 0;
            panel[p * PANEL + j] =
                j < columns ? (float)q * bf16_to_float(g->scales[p / g->group * g->n + j0 + j]) : 0;
        }
}

static void store_corrected(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    const int64_t groups = (g->k + g->group - 1) / g->group;
    for (int64_t j = 0; j < columns; j++) {
        float correction = 0;
        for (int64_t group = 0; group < groups; group++) {
            const int64_t at = group * g->n + j0 + j;
            const float offset = bf16_to_float(g->scales[at]) * g->zero_of(g->zeros[at]);
            correction += offset * sum_at(&input_sums, group * g->m + i);
        }
        g->c[i * g->n + j0 + j] = STORE(sum[j] - correction);
    }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    input_sums = buffer_for(&g);
    if (!input_sums.at)
        return 1;
    add_up(&g, &input_sums);
    g.pack = pack_nibbles;
    g.store = store_corrected;
    const int failed = product_run(&g);
    free(input_sums.at);
    return failed;
}
