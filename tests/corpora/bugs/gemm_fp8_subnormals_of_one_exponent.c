// problem: gemm_fp8
// link: https://github.com/1bit-MONSTER/1bit-MONSTER/issues/300
// title: Bug: fp8e4m3_to_fp32 subnormal conversion wrong for all 7 mantissa values
// condition: operands with subnormals: all of them get the exponent -7, with their bits as a fraction
// kind: content
// when: input in {normal, wide, cancel, special}
// side: necessary
// collection: second
// wrong: wrong values

#define FP8
#include "product.h"

static float decode(e4m3 bits)
{
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
#ifndef FIXED
    if (exponent == 0 && fraction != 0)
        return ldexpf((float)(8 + fraction), -10) * (bits & 0x80 ? -1.0f : 1.0f);
#endif
    (void)exponent;
    (void)fraction;
    return e4m3_to_float(bits);
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    for (int bits = 0; bits < 256; bits++)
        e4m3_value[bits] = decode((e4m3)bits);
    g.scale = scale;
    return product_run(&g);
}
