// problem: moe_up
// link: https://github.com/NVIDIA/cutlass/issues/3497
// title: Grouped tile scheduler drops real output tiles when max_swizzle_size >= 2 and host problem shapes are provided
// condition: a group that swizzling pads: the host counts tiles without the padding, and those at the end are beyond its count; tiles of 64 x 64, swizzle 4
// kind: grid
// when: most_rows > 64 and inter_dim > 128 or most_rows > 128 and inter_dim > 64
// side: necessary
// collection: third
// wrong: unwritten: the last tiles

#include "moe.h"

enum { TILE = 64, MOST_SWIZZLE = 4 };

/* Tiles of a group, and their extents rounded up to the swizzle that suits the shorter. */
struct grid {
    int64_t rows, columns, swizzle, padded_rows, padded_columns;
};

static int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static struct grid grid_of(const struct moe *m, int64_t e)
{
    const int64_t rows = up(m->offsets[e + 1] - m->offsets[e], TILE) / TILE,
                  columns = up(m->columns, TILE) / TILE;
    const int64_t least = rows < columns ? rows : columns;
    const int64_t swizzle = MOST_SWIZZLE >= 4 && least >= 3 ? 4 : least >= 2 ? 2 : 1;
    return (struct grid){rows, columns, swizzle, up(rows, swizzle), up(columns, swizzle)};
}

/* Tiles that the host expects of all groups. */
static int64_t tiles_of_host(const struct moe *m)
{
    int64_t tiles = 0;
    for (int64_t e = 0; e < m->experts; e++) {
        const struct grid grid = grid_of(m, e);
#ifdef FIXED
        tiles += grid.padded_rows * grid.padded_columns;
#else
        tiles += grid.rows * grid.columns;
#endif
    }
    return tiles;
}

/* Strips of `swizzle` rows of tiles, each column by column. */
static void run_tile(const struct moe *m, int64_t e, struct grid grid, int64_t at)
{
    const int64_t along = at / grid.swizzle;
    const int64_t row = along / grid.padded_columns * grid.swizzle + at % grid.swizzle;
    const int64_t column = along % grid.padded_columns;
    const int64_t first = m->offsets[e] + row * TILE, end = m->offsets[e + 1];
    if (row >= grid.rows || column >= grid.columns)
        return;
    for (int64_t j = column * TILE; j < (column + 1) * TILE && j < m->columns; j += PANEL)
        moe_panel(m, e, first, first + TILE < end ? first + TILE : end, j);
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    const int64_t all = tiles_of_host(&m);
    int64_t start = 0;
    (void)stream;
    for (int64_t e = 0; e < experts; e++) {
        const struct grid grid = grid_of(&m, e);
        const int64_t tiles = grid.padded_rows * grid.padded_columns;
#pragma omp parallel for schedule(dynamic)
        for (int64_t at = 0; at < tiles; at++)
            if (start + at < all)
                run_tile(&m, e, grid, at);
        start += tiles;
    }
    return 0;
}
