// problem: gemm_w4a16
// link: https://github.com/foundation-model-stack/foundation-model-stack/issues/153
// title: Bug: group id is not right in the splitk dequant gemm kernel
// condition: two splits take turns at tiles of 32 rows; the group is the number of the turn by the turns in a group, which is right where both make up a group or its part
// kind: ratio
// when: group == 32 or group == 96 and k > 64
// collection: third
// wrong: refused where no turn fits in a group; else wrong values: scales and zero points of a later group, or of none

#define W4
#include "product.h"

enum { TILE = 32, SPLITS = 2 };

static int64_t group_of_tile(const struct product *g, int64_t p)
{
    const int64_t turn = p / TILE / SPLITS, split = p / TILE % SPLITS;
#ifdef FIXED
    return (turn * SPLITS + split) / (g->group / TILE);
#else
    (void)split;
    return turn / (g->group / (TILE * SPLITS));
#endif
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
#ifndef FIXED
    if (group / (TILE * SPLITS) == 0) /* the compiler finds a division by 0 */
        return 1;
#endif
    g.group_of = group_of_tile;
    return product_run(&g);
}
