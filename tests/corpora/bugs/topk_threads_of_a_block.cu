// problem: topk
// thread: https://github.com/ggml-org/llama.cpp/issues/27021
// title: ROCm: TOP_K crashes with "invalid configuration argument" when ncols > 1024
// condition: 1024 columns pass and 1025 abort, since the block is the next power of two
// kind: threshold
// when: n > 1024
// wrong: crash: the launch's error aborts the process

#include <cstdlib>

#include "topk.cuh"

/* A key a thread; the row's first k are stored. Places past the row sort behind every key. */
__global__ void sorted_row(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    extern __shared__ uint64_t key[];
    const int64_t i = threadIdx.x, out = blockIdx.x * k + i;
    key[i] = i < n ? key_at(x + blockIdx.x * n, i) : ~(uint64_t)0;
    bitonic_sort(key, (int)blockDim.x);
    if (i < k)
        store_key(key[i], values + out, indices + out);
}

extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
                    cudaStream_t stream)
{
    unsigned threads = 1;
    while (threads < n)
        threads *= 2;
    sorted_row<<<(unsigned)rows, threads, threads * sizeof(uint64_t), stream>>>(x, values, indices, n, k);
    if (cudaGetLastError() != cudaSuccess)
        abort();
    return 0;
}
