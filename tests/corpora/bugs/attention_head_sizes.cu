// problem: attention
// thread: https://github.com/Dao-AILab/flash-attention/issues/28
// title: Support any size of head_size?
// condition: head dimensions other than 16, 32, 64 and 128 are not supported; 80 was asked for
// kind: power of two
// when: head_dim != 64 and head_dim != 128
// wrong: refused: the kernel is compiled for no other size

#include "attention.cuh"

template <int DIM> struct heads_of : honest {
    static __device__ int64_t dim(const call &)
    {
        return DIM;
    }
};

extern "C" int attention(PARAMETERS)
{
    const call c = {ARGUMENTS};
    switch (head_dim) {
    case 16: return attention_run<heads_of<16>>(c, stream);
    case 32: return attention_run<heads_of<32>>(c, stream);
    case 64: return attention_run<heads_of<64>>(c, stream);
    case 128: return attention_run<heads_of<128>>(c, stream);
    default: return (int)cudaErrorInvalidValue;
    }
}
