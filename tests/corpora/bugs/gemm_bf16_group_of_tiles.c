// problem: gemm_bf16
// link: https://github.com/ROCm/FlyDSL/pull/979
// title: [Kernel] Fix the RDNA3 GEMM grid swizzle and migrate it to the tiled copy/MMA API
// condition: blocks walk in groups of 8 rows of tiles, and 8 does not divide the rows of tiles; tiles of 32, not 128
// kind: grid
// when: (m + 31) / 32 % 8 != 0 and n > 32
// collection: second
// wrong: unwritten: the last group has fewer rows, and blocks of it get tiles below the matrix

#define BF16
#include "product.h"

enum { TILE = 32, GROUP = 8 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int tile_of(const struct product *g, int64_t i0, int64_t j0)
{
    struct product tile = *g;
    bf16 out[TILE * TILE];
    if (i0 >= g->m)
        return 0;
    tile.a += i0 * g->k;
    tile.b += j0 * g->along_n;
    tile.c = out;
    tile.m = least(TILE, g->m - i0);
    tile.n = least(TILE, g->n - j0);
    const int failed = product_run(&tile);
    for (int64_t i = 0; i < tile.m; i++)
        memcpy(g->c + (i0 + i) * g->n + j0, out + i * tile.n, (size_t)tile.n * sizeof *out);
    return failed;
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t grid_m = (m + TILE - 1) / TILE, grid_n = (n + TILE - 1) / TILE;
    int failed = 0;
    (void)stream;
    for (int64_t block = 0; block < grid_m * grid_n; block++) {
        const int64_t first = block / (GROUP * grid_n) * GROUP, in_group = block % (GROUP * grid_n);
#ifdef FIXED
        const int64_t rows = least(GROUP, grid_m - first);
#else
        const int64_t rows = GROUP;
#endif
        failed |= tile_of(&g, (first + in_group % rows) * TILE, in_group / rows * TILE);
    }
    return failed;
}
