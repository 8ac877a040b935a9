// problem: gemm_w4a16
// thread: https://github.com/mit-han-lab/llm-awq/issues/21
// title: W4A16 kernel error when group_size is not 128
// condition: outputs are correct only when the group size is 128
// kind: equality
// when: group != 128 and k > group
// wrong: wrong values: the kernel has 128 written in it

#define W4
#include "product.cuh"

namespace {

constexpr int GROUP = 128;

struct of_128 : honest {
    static __device__ float b(const product &g, int64_t p, int64_t j)
    {
        return w4_value(g, p, j, p / GROUP);
    }
};

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k,
                          int64_t group, cudaStream_t stream)
{
    product g = product_of(x, w_q, y, m, n, k, 0);
    g.scales = scales;
    g.zeros = zeros;
    g.group = group;
    return product_run<of_128>(g, stream);
}
