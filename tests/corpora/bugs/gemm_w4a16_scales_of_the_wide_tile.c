// problem: gemm_w4a16
// link: https://github.com/huggingface/optimum-quanto/issues/332
// title: Corrupted outputs with Marlin int4 kernels as parallelization increases
// condition: more than 32 inputs, two blocks of 16: outputs from the 128th feature on are corrupted; the tile becomes 256 columns wide, and a stage has scales and zeros for 128
// kind: threshold
// when: m > 32 and n > 128
// side: necessary
// collection: fourth
// wrong: wrong values: columns from 128 on in a tile read what the next stage holds

#define W4
#include "product.h"

enum { FEW = 32, SMALL_TILE = 128, LARGE_TILE = 256, STAGES = 4 };

/* Scales and zeros in shared memory: a ring of stages, a group of K in each. */
struct ring {
    int64_t tile;   /* columns of a tile */
    int64_t stride; /* from a stage to the next */
};

static struct ring ring_of(int64_t m)
{
    struct ring r = {m > FEW ? LARGE_TILE : SMALL_TILE, SMALL_TILE};
#ifdef FIXED
    r.stride = r.tile;
#endif
    return r;
}

/* The values that a column reads in one group. Those behind it are fetched, as far as there are stages. */
static float read_ring(const struct product *g, struct ring r, const bf16 *of, int64_t group, int64_t column)
{
    const int64_t groups = (g->k + g->group - 1) / g->group, tile = column / r.tile * r.tile;
    const int64_t at = group % STAGES * r.stride + column - tile;
    const int64_t stage = at / r.stride % STAGES, from = tile + at % r.stride;
    int64_t held = group - group % STAGES + stage; /* the group that the stage holds */
    if (held < group)
        held += STAGES;
    if (held >= groups || held >= group + STAGES - 1)
        held -= STAGES;
    return held < 0 || from >= g->n ? 0 : bf16_to_float(of[held * g->n + from]);
}

static void pack_with_ring(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const struct ring r = ring_of(g->m);
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t at = j0 + j;
            if (j >= columns) {
                panel[p * PANEL + j] = 0;
                continue;
            }
            const int q = g->b[p / 2 * g->n + at] >> (p % 2 * 4) & 15;
            const float zero = read_ring(g, r, g->zeros, p / g->group, at);
            panel[p * PANEL + j] = ((float)q - zero) * read_ring(g, r, g->scales, p / g->group, at);
        }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.pack = pack_with_ring;
    return product_run(&g);
}
