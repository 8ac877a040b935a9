// problem: kda
// link: https://github.com/flashserve/flash-linear-attention-npu/pull/510
// title: perf: fuse recurrent gated delta rule into regbase vf
// condition: the last of the rows' registers is stored with a full mask where they are no multiple of a register's 64
// kind: alignment
// when: dv % 64 != 0
// wrong: out of bounds: 32 elements behind a value are written

#include "kda.h"

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    c.values = (dv + 63) / 64 * 64;
    for (int64_t bh = batch * heads - 1; bh >= 0; bh--) {
        float *state = malloc(MAX_DIM * MAX_DIM * sizeof *state);
        if (!state)
            return 1;
        kda_head(&c, bh / heads, bh % heads, state);
        free(state);
    }
    return 0;
}
