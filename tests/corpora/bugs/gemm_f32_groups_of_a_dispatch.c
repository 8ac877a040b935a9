// problem: gemm_f32
// link: https://github.com/leejet/stable-diffusion.cpp/issues/1991
// title: [Bug] vulkan: SIGABRT when matmul grid exceeds maxComputeWorkGroupCount (krea2 / Qwen3VL edit, 2 reference images, n=2703360)
// condition: more work groups along N than a dispatch takes: above 32 times 65535; sized down to 32 times 127
// kind: grid
// when: n > 4064
// collection: second
// wrong: refused

#include "product.h"

enum { TILE = 32, MOST_GROUPS = 127 };

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
#ifndef FIXED
    if ((n + TILE - 1) / TILE > MOST_GROUPS)
        return 1;
#endif
    return product_run(&g);
}
