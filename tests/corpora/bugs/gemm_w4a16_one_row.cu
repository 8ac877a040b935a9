// problem: gemm_w4a16
// thread: https://github.com/intel/torch-xpu-ops/pull/5001
// title: [int4_mm] Fix _weight_int4pack_mm_xpu
// condition: wrong when M == 1 and the group is larger than 32; M > 1 and groups of 32 are unaffected
// kind: equality
// when: m == 1 and group > 32 and k > group
// wrong: wrong values: slice * (32 / group) is 0, so that all of k takes group 0's scale and zero

#define W4
#include "product.cuh"

namespace {

constexpr int TILE_K = 32;

/* A column a thread, slices of k one after the other: a slice has one group. */
__global__ void multiply_row(product g)
{
    const int64_t j = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    if (j >= g.n)
        return;
    for (int64_t slice = 0; slice * TILE_K < g.k; slice++) {
        const int64_t group = slice * (TILE_K / g.group), end = min((slice + 1) * TILE_K, g.k);
        for (int64_t p = slice * TILE_K; p < end; p++)
            sum += honest::a(g, 0, p) * w4_value(g, p, j, group);
    }
    g.c[j] = __float2bfloat16(sum);
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k,
                          int64_t group, cudaStream_t stream)
{
    product g = product_of(x, w_q, y, m, n, k, 0);
    g.scales = scales;
    g.zeros = zeros;
    g.group = group;
    if (m > 1)
        return product_run<honest>(g, stream);
    multiply_row<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
