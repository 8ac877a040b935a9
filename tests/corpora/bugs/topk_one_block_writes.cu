// problem: topk
// thread: https://github.com/arrayfire/arrayfire/issues/2283
// title: Incorrect outputs for large k values in topk in cuda backend
// condition: values of k > 256 give incorrect results
// kind: threshold
// when: k > 256
// wrong: unwritten: one block of 256 threads stores one result each

#include "topk.cuh"

/* The fault: the last step has no loop. */
__global__ void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    const int64_t out = (int64_t)blockIdx.x * k + threadIdx.x;
    int size = 1;
    while (size < k)
        size *= 2;
    for (int i = k + threadIdx.x; i < size; i += THREADS)
        best[i] = ~(uint64_t)0; /* sorts behind every key */
    gather_keys(x + blockIdx.x * n, n, k, best);
    bitonic_sort(best, size);
    if ((int)threadIdx.x < k)
        store_key(best[threadIdx.x], values + out, indices + out);
}

extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
                    cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
