// problem: moe_up
// link: https://github.com/tile-ai/TileOPs/pull/1952
// title: [Refactor][GroupedGemm] One tile-to-group mapping, and the NT/NN tiling it fixes
// condition: tiles of 64 rows are cut over all rows, and each has one group: rows of a group that are no multiple of a tile
// kind: alignment
// when: experts > 1 and tokens > 1 and routing!=one
// side: necessary
// collection: second
// wrong: wrong values: rows behind a boundary inside of a tile have the weights of its first row

#include "moe.h"

enum { TILE = 64 };

static int64_t expert_of(const struct moe *m, int64_t row)
{
    int64_t e = 0;
    while (m->offsets[e + 1] <= row)
        e++;
    return e;
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
#ifdef FIXED
    return moe_run(&m);
#else
    for (int64_t first = 0; first < tokens; first += TILE)
        moe_rows(&m, expert_of(&m, first), first, first + TILE < tokens ? first + TILE : tokens);
    return 0;
#endif
}
