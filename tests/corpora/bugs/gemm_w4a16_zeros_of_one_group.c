// problem: gemm_w4a16
// link: https://github.com/sgl-project/sglang/pull/37759
// title: Fix Marlin MoE zero-point loads for small quantization groups
// condition: a tile of K has several groups, 64 and 32: all of its scales are loaded, and the zero points of the first alone; groups of 64 and 128 are right
// kind: ratio
// when: group == 32 and k > 32 and zero!=low
// side: necessary
// collection: fourth
// wrong: wrong values: the other groups of a tile find no zero points in their stage

#define W4
#include "product.h"

enum { THREAD_K = 64, SMALLEST_GROUP = 32, MOST_GROUPS = THREAD_K / SMALLEST_GROUP };

/* Scales and zero points of a panel's columns for a tile of K. */
struct stage {
    float scale[MOST_GROUPS][PANEL], zero[MOST_GROUPS][PANEL];
};

static int64_t groups_of_a_tile(const struct product *g)
{
    return g->group < THREAD_K ? THREAD_K / g->group : 1;
}

static void load(const struct product *g, const bf16 *of, int64_t group, int64_t j0, int64_t columns,
                 float *row)
{
    for (int64_t j = 0; j < columns; j++)
        row[j] = bf16_to_float(of[group * g->n + j0 + j]);
}

static void load_stage(const struct product *g, int64_t first, int64_t j0, int64_t columns,
                       struct stage *stage)
{
    const int64_t all = (g->k + g->group - 1) / g->group, most = groups_of_a_tile(g);
#ifdef FIXED
    const int64_t zeros = most;
#else
    const int64_t zeros = 1;
#endif
    for (int64_t i = 0; i < most && first + i < all; i++)
        load(g, g->scales, first + i, j0, columns, stage->scale[i]);
    for (int64_t i = 0; i < zeros && first + i < all; i++)
        load(g, g->zeros, first + i, j0, columns, stage->zero[i]);
}

static void pack_tile(const struct product *g, int64_t start, int64_t j0, int64_t columns,
                      const struct stage *stage, float *panel)
{
    for (int64_t p = start; p < start + THREAD_K && p < g->k; p++)
        for (int64_t j = 0; j < columns; j++) {
            const int64_t i = p / g->group - start / g->group;
            const int q = g->b[p / 2 * g->n + j0 + j] >> (p % 2 * 4) & 15;
            panel[p * PANEL + j] = ((float)q - stage->zero[i][j]) * stage->scale[i][j];
        }
}

/* Where groups and tiles do not fit, each row looks for its own. */
static void pack_tiles(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    if (g->group % THREAD_K != 0 && THREAD_K % g->group != 0) {
        w4_pack(g, j0, columns, panel);
        return;
    }
    memset(panel, 0, (size_t)(g->k * PANEL) * sizeof *panel);
    for (int64_t start = 0; start < g->k; start += THREAD_K) {
        struct stage stage = {0};
        load_stage(g, start / g->group, j0, columns, &stage);
        pack_tile(g, start, j0, columns, &stage, panel);
    }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.pack = pack_tiles;
    return product_run(&g);
}
