// problem: gemm_w4a16
// link: https://github.com/HandH1998/QQQ/issues/9
// title: Possibility of using different group size setting
// condition: a tile is 128 deep for up to 16 rows and 64 for more, and a group has to have a multiple of that
// kind: block size
// when: m <= 16 and group != 128 and k > group or m > 16 and group != 64 and group != 128 and k > group
// collection: second
// wrong: wrong values: a tile has one row of scales and zero points, that of its first row

#define W4
#include "product.h"

static int64_t depth_of(const struct product *g)
{
    return g->m <= 16 ? 128 : 64;
}

static int64_t group_of_tile(const struct product *g, int64_t p)
{
#ifdef FIXED
    return g->group % depth_of(g) == 0 ? p / depth_of(g) * depth_of(g) / g->group : p / g->group;
#else
    return p / depth_of(g) * depth_of(g) / g->group;
#endif
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.group_of = group_of_tile;
    return product_run(&g);
}
