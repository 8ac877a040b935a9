// problem: paged_attention
// thread: https://github.com/Dao-AILab/flash-attention/pull/824
// title: Add support for small page sizes
// condition: "mha_fwd_kvcache will report an error when batch_size > 32": illegal memory access
// kind: threshold
// when: batch > 32
// side: necessary
// wrong: wrong values or a crash: a warp's 32 lanes hold the lengths, and the next sequences take theirs

#include "paged.cuh"

namespace {

struct lengths_of_lanes : honest {
    static __device__ int64_t length(const paged &p, int64_t b)
    {
        const int lane = threadIdx.x % 32, mine = lane < p.batch ? p.lens[lane] : 0;
        return __shfl_sync(0xffffffff, mine, (int)b); /* of lane b % 32 */
    }
};

} // namespace

extern "C" int paged_attention(PARAMETERS)
{
    return paged_run<lengths_of_lanes>({ARGUMENTS}, stream);
}
