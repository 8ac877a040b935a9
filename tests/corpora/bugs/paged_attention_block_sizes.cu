// problem: paged_attention
// thread: https://github.com/vllm-project/vllm/issues/2594
// title: Will block_size 64/128/156 be supported in paged attention?
// condition: "Unsupported block size: 64"; 1, 2, 4, 64, 128 and 256 are left out to shorten the compilation
// kind: block size
// when: page_size != 8 and page_size != 16 and page_size != 32
// wrong: refused: the kernel is compiled for no other size

#include "paged.cuh"

template <int SIZE> struct pages_of : honest {
    static __device__ int64_t page_size(const paged &)
    {
        return SIZE;
    }
};

extern "C" int paged_attention(PARAMETERS)
{
    const paged p = {ARGUMENTS};
    switch (page_size) {
    case 8: return paged_run<pages_of<8>>(p, stream);
    case 16: return paged_run<pages_of<16>>(p, stream);
    case 32: return paged_run<pages_of<32>>(p, stream);
    default:
        return (int)cudaErrorInvalidValue; /* 1, 2, 4, 64, 128, 256: left out to shorten the compilation */
    }
}
