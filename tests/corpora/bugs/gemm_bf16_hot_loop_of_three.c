// problem: gemm_bf16
// link: https://github.com/ROCm/composable_kernel/pull/3307
// title: [CK_TILE] Fix for comp pipeline v4
// condition: K is split in two, and a split has three tiles, of 32 here: the hot loop runs once, and the tail of three follows
// kind: equality
// when: k > 128 and k <= 192
// collection: third
// wrong: wrong values: five tiles instead of three, and the other split's count twice

#define BF16
#include "product.h"

enum { TILE = 32, SPLITS = 2, PREFETCHED = 2 };

static bool has_hot_loop(int64_t tiles)
{
#ifdef FIXED
    return tiles > PREFETCHED + 1;
#else
    return tiles > PREFETCHED;
#endif
}

/* Tiles that the pipeline multiplies where a split has so many. */
static int64_t multiplied(int64_t tiles)
{
    const int64_t tail = tiles < PREFETCHED ? tiles : tiles % 2 == 0 ? 2 : 3;
    int64_t done = 0;
    if (has_hot_loop(tiles))
        do {
            done += 2;
        } while (done < tiles - tail);
    return done + tail;
}

/* Rows of b, each times as often as the splits meet its tile. Both splits add up in fp32, and beyond K are zeros. */
static void pack_splits(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const int64_t all = (g->k + TILE - 1) / TILE, each = (all + SPLITS - 1) / SPLITS;
    product_pack(g, j0, columns, panel);
    for (int64_t p = 0; p < g->k; p++) {
        int times = 0;
        for (int64_t first = 0; first < all; first += each) {
            const int64_t tiles = all - first < each ? all - first : each;
            times += p / TILE >= first && p / TILE < first + multiplied(tiles);
        }
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] *= (float)times;
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.pack = pack_splits;
    return product_run(&g);
}
