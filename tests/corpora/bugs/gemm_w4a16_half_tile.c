// problem: gemm_w4a16
// link: https://github.com/vllm-project/vllm/pull/13227
// title: [Kernel] Fix awq error when n is not divisable by 128
// condition: wrong when n is not divisible by 128 but is by 64
// kind: alignment
// when: n % 128 == 64 and k > group
// wrong: wrong values: rows of scales and zeros are taken to hold whole tiles of 128

#define W4
#include "product.h"

static void pack_tiles(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const int64_t pitch = g->n / 128 * 128;
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t at = j0 + (j < columns ? j : 0), row = p / g->group * pitch;
            const int q = g->b[p / 2 * g->n + at] >> (p % 2 * 4) & 15;
            panel[p * PANEL + j] = ((float)q - LOAD(g->zeros[row + at])) * LOAD(g->scales[row + at]);
        }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    if (n % 128 == 64)
        g.pack = pack_tiles;
    return product_run(&g);
}
