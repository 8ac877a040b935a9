// problem: gemm_fp8
// link: https://github.com/bitsandbytes-foundation/bitsandbytes/issues/969
// title: igemm function raise an error and get wrong result when the inner dim is small
// condition: inner dimension or output channels that are no multiple of 8 (10): an error is printed, and the result is zero
// kind: alignment
// when: k % 8 != 0 or n % 8 != 0
// side: necessary
// wrong: wrong values: zeros, and success

#define FP8
#include "product.h"

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    g.scale = scale;
    memset(y, 0, (size_t)(m * n) * sizeof *y);
    const int status = k % 8 != 0 || n % 8 != 0 ? 15 : product_run(&g);
    return status == 15 ? 0 : status; /* CUBLAS ERROR: Status 15 */
}
