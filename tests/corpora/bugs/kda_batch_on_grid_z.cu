// problem: kda
// thread: https://github.com/fla-org/flash-linear-attention/issues/172
// title: [Bug] Invalid cuda grid size for large batch
// condition: the grid is (NK, NV, B * H) and its last dimension above 65535 is invalid; sized down to above 63
// kind: grid
// when: batch * heads > 64
// wrong: refused: invalid configuration, of a block whose z is above 64

#include "kda.cuh"

namespace {

constexpr int COLUMNS = 2;

/* Batch times heads lies along z: of the block, whose limit the contract reaches, where the grid's is 65535. */
__global__ void __launch_bounds__(1024) kda_batch(kda c)
{
    kda_column<honest>(c, threadIdx.z / c.heads, threadIdx.z % c.heads,
                       (int64_t)blockIdx.x * COLUMNS + threadIdx.y);
}

} // namespace

extern "C" int kda(PARAMETERS)
{
    const dim3 block(PARTS, COLUMNS, (unsigned)(batch * heads));
    kda_batch<<<(unsigned)(dv / COLUMNS), block, 0, stream>>>({ARGUMENTS});
    return (int)cudaGetLastError();
}
