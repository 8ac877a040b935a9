// problem: kda
// thread: https://github.com/flashserve/flash-linear-attention-npu/pull/510
// title: perf: fuse recurrent gated delta rule into regbase vf
// condition: the last of the rows' registers is stored with a full mask where they are no multiple of a register's 64
// kind: alignment
// when: dv % 64 != 0
// wrong: out of bounds: 32 elements behind a value are written

#include "kda.cuh"

static constexpr int REGISTER = 64; /* columns that are stored at a time */

struct unmasked : honest {
    static __device__ void store(const struct kda &c, int64_t row, int64_t j, float y)
    {
        c.o[row * c.dv + j] = __float2bfloat16(y);
    }
};

extern "C" int kda(PARAMETERS)
{
    return kda_run<unmasked, REGISTER>({ARGUMENTS}, 0, stream);
}
