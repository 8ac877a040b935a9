// problem: gemm_f32
// link: https://github.com/tile-ai/tilelang/issues/2433
// title: [BUG][Fuzzer][wrong-code] `T.Persistent` silently drops a band of output tiles instead of producing all of them when `n_blocks` isn't a multiple of 8
// condition: more than 8 blocks of columns and no multiple of 8: groups of 8 are counted by a division that rounds down; blocks of 16 columns here
// kind: grid
// when: (n + 15) / 16 > 8 and (n + 15) / 16 % 8 != 0
// collection: third
// wrong: unwritten: the blocks of columns behind the last whole group

#include "product.h"

enum { BLOCK = 64, GROUP = 8 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static int run_block(const struct product *g, int64_t i0, int64_t j0)
{
    const int64_t columns = least(g->n - j0, PANEL), end = least(g->m, i0 + BLOCK);
    vec *panel = aligned_alloc(sizeof(vec), (size_t)g->k * sizeof(vec));
    if (!panel)
        return 1;
    g->pack(g, j0, columns, (float *)panel);
    for (; i0 < end; i0 += ROWS) {
        const a_type *rows[ROWS];
        vec sum[ROWS];
        for (int64_t i = 0; i < ROWS; i++)
            rows[i] = g->a + least(i0 + i, end - 1) * g->pitch;
        product_multiply(rows, panel, g->k, sum);
        for (int64_t i = 0; i < ROWS && i0 + i < end; i++)
            g->store(g, i0 + i, j0, columns, (const float *)&sum[i]);
    }
    free(panel);
    return 0;
}

/* Blocks of a group of columns, row by row of blocks, then those of the next group. */
int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t rows = up(m, BLOCK), columns = up(n, PANEL), group = least(columns, GROUP);
    int failed = 0;
    (void)stream;
#ifdef FIXED
    const int64_t groups = up(columns, group), steps = groups * rows * group;
#else
    const int64_t groups = columns / group, steps = rows * columns;
#endif
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t at = 0; at < steps; at++) {
        const int64_t column = at / (rows * group) % groups * group + at % group;
        if (column < columns)
            failed |= run_block(&g, at / group % rows * BLOCK, column * PANEL);
    }
    return failed;
}
