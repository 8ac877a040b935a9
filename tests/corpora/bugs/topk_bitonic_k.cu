// problem: topk
// thread: https://github.com/anilshanbhag/gpu-topk/issues/1
// title: Fails on Ubuntu 18: 1080Ti
// condition: "Non-powers of 2 for K will result in program exiting or incorrect results"
// kind: power of two
// when: not pow2(k)
// side: necessary
// wrong: wrong values: a bitonic network over K elements, partners past K left out, does not sort

#include "topk.cuh"

/* The fault: the network is as wide as k, and not as the next power of two. */
__global__ void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    const int64_t out = (int64_t)blockIdx.x * k;
    gather_keys(x + blockIdx.x * n, n, k, best);
    bitonic_sort(best, k);
    for (int j = threadIdx.x; j < k; j += THREADS)
        store_key(best[j], values + out + j, indices + out + j);
}

extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
                    cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
