// problem: moe_up
// link: https://github.com/NVIDIA/cutlass/pull/1543
// title: Fix potential out-of-bounds access in 3.x grouped gemm kernel
// condition: if there are very few tiles, some blocks begin with an invalid tile, and read the problem shape of group -1
// kind: grid
// when: (tokens + 63) / 64 * ((inter_dim + 63) / 64) < 16
// side: necessary
// wrong: out of bounds: a read in front of the shapes

#include "moe.h"

enum { TILE = 64, BLOCKS = 16 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    const struct moe m =
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    int64_t tiles = 0, total = 0;
    (void)stream;
    for (int64_t e = 0; e < experts; e++)
        tiles +=
            (expert_offsets[e + 1] - expert_offsets[e] + TILE - 1) / TILE * ((inter_dim + TILE - 1) / TILE);
    for (int64_t block = 0; block < BLOCKS;
         block++) { /* the shape of its first tile, read before anything is asked */
        const int64_t group = block < tiles ? 0 : -1;
        total += ((const volatile int32_t *)expert_offsets)[group];
    }
    return total < 0 ? 1 : moe_run(&m);
}
