// problem: gemm_w4a16
// thread: https://github.com/ggml-org/llama.cpp/pull/8311
// title: CUDA: fix MMQ stream-k rounding if ne00 % 128 != 0
// condition: wrong where K is a multiple of 64 only: boundaries between blocks assume multiples of 128
// kind: alignment
// when: k % 128 != 0
// side: necessary
// wrong: wrong values: what is past the last whole iteration is nobody's

#define W4
#include "product.cuh"

namespace {

constexpr int64_t ITERATION = 128, SHARES = 8;

/* Iterations of k are shared out; a share is of whole ones. */
int64_t terms_of_a_share(int64_t iterations)
{
    return (iterations + SHARES - 1) / SHARES * ITERATION;
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k,
                          int64_t group, cudaStream_t stream)
{
    product g = product_of(x, w_q, y, m, n, k, 0);
    const size_t bytes = (size_t)(m * n) * sizeof *g.part;
    const int64_t iterations = k / ITERATION; /* the fault: not all of k */
    int failed = (int)cudaMallocAsync((void **)&g.part, bytes, stream);
    if (failed)
        return failed;
    g.scales = scales;
    g.zeros = zeros;
    g.group = group;
    g.depth = iterations * ITERATION;
    g.slice = terms_of_a_share(iterations);
    cudaMemsetAsync(g.part, 0, bytes, stream);
    if (iterations > 0)
        failed = product_run<sliced>(g, stream);
    failed = failed ? failed : product_finish(g, stream);
    cudaFreeAsync(g.part, stream);
    return failed;
}
