// problem: paged_attention
// thread: https://github.com/flashinfer-ai/flashinfer/issues/996
// title: Support more group_size in Batch Decoding
// condition: "Unsupported group_size: 7"; the dispatch knows 1, 2, 3, 4 and 8
// kind: ratio
// when: heads > 4 * kv_heads and heads != 8 * kv_heads
// wrong: refused: the kernel is compiled for no other group

#include "paged.cuh"

template <int SIZE> struct group_of : honest {
    static __device__ int64_t group(const paged &)
    {
        return SIZE;
    }
};

extern "C" int paged_attention(PARAMETERS)
{
    const paged p = {ARGUMENTS};
    switch (heads / kv_heads) {
    case 1: return paged_run<group_of<1>>(p, stream);
    case 2: return paged_run<group_of<2>>(p, stream);
    case 3: return paged_run<group_of<3>>(p, stream);
    case 4: return paged_run<group_of<4>>(p, stream);
    case 8: return paged_run<group_of<8>>(p, stream);
    default: return (int)cudaErrorInvalidValue;
    }
}
