// problem: gemm_f32
// thread: https://github.com/NVIDIA/cutlass/issues/3538
// title: GemmWithKReduction parallel split-K: workspace initialization is skipped, partials land in the user output buffer
// condition: with more than one slice of K the partial products are written through D, past its end
// kind: threshold
// when: k > 1024
// wrong: out of bounds: slice s is written at D + s m n

#include "product.cuh"

namespace {

constexpr int SLICE = 1024;

/* The fault: c is no workspace for more than one slice. */
struct in_place : honest {
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        float *partial = g.c + blockIdx.z * g.m * g.n;
        for (int l = 0; l < 4 && j + l < g.n; l++)
            partial[i * g.n + j + l] = sum[l];
    }
};

__global__ void add_slices(float *c, int64_t count, int64_t slices)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float sum = c[i];
    for (int64_t slice = 1; slice < slices; slice++)
        sum += c[slice * count + i];
    c[i] = sum;
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t blocks = (m * n + THREADS - 1) / THREADS;
    g.slice = SLICE;
    const int failed = product_run<in_place>(g, stream);
    if (failed || k <= SLICE)
        return failed;
    add_slices<<<(unsigned)blocks, THREADS, 0, stream>>>(c, m * n, (k + SLICE - 1) / SLICE);
    return (int)cudaGetLastError();
}
