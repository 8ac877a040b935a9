// problem: gemm_bf16
// link: https://github.com/espressif/esp-dl/issues/239
// title: Incorrect matmul results when output channels > 16, occasional stack overflow with smaller channels (AIV-789)
// condition: more than 16 output channels, of weights as the caller has them: [input channels, output channels]
// kind: layout
// when: trans_b == 0 and n > 16 and k > 1
// collection: fourth
// wrong: wrong values: the kernel takes the weights for panels of 16 output channels, which they are up to 16

#define BF16
#include "product.h"

enum { CHANNELS = 16 };

/* Where the kernel finds row p of channel j. The last panel may have fewer channels. */
static int64_t place_of(const struct product *g, int64_t p, int64_t j)
{
    const int64_t first = j / CHANNELS * CHANNELS, left = g->n - first;
    return first * g->k + p * (left < CHANNELS ? left : CHANNELS) + j % CHANNELS;
}

/* Weights that the caller has transposed are put in order; the others are in the kernel's order already. */
static const bf16 *prepare(const struct product *g, int64_t trans_b, bf16 *room)
{
#ifdef FIXED
    (void)trans_b;
#else
    if (!trans_b)
        return g->b;
#endif
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t p = 0; p < g->k; p++)
            room[place_of(g, p, j)] = g->b[p * g->along_k + j * g->along_n];
    return room;
}

static void pack_panel(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[place_of(g, p, j0 + j)]) : 0.0f;
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    bf16 *room = malloc((size_t)(k * n) * sizeof *room);
    (void)stream;
    if (!room)
        return 1;
    g.b = prepare(&g, trans_b, room);
    g.pack = pack_panel;
    const int failed = product_run(&g);
    free(room);
    return failed;
}
