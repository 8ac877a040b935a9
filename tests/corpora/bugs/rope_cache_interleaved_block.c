// problem: rope_cache
// link: https://github.com/Dao-AILab/flash-attention/issues/1195
// title: Bug in RotaryEmbed Kernel
// condition: RotaryEmbedding(72, interleaved=True): illegal memory access
// kind: alignment
// when: style=pairs and rot_dim % 32 != 0
// wrong: wrong values or out of bounds: blocks of 32 elements, the last one not masked

#include "rope.h"

enum { BLOCK = 32 };

static void blocks(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    const int64_t half = r->rot_dim / 2, end = (r->rot_dim + BLOCK - 1) / BLOCK * (BLOCK / 2);
    for (int64_t i = 0; i < end; i++)
        turn(in, out, 2 * i, 2 * i + 1, angle[i % half], angle[half + i % half]);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return rope_run(&r, neox ? rotate : blocks, neox ? rotate : blocks);
}
