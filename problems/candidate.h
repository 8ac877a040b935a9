/* Conversions for host candidates written in C, where a 16-bit or 8-bit float
 * arrives as its bits. CUDA candidates use cuda_bf16.h, cuda_fp16.h and cuda_fp8.h instead. */
#ifndef UNSEEN_CANDIDATE_H
#define UNSEEN_CANDIDATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16; /* 1 sign, 8 exponent, 7 fraction bits */
typedef uint16_t f16;  /* IEEE binary16: 1 sign, 5 exponent, 10 fraction bits */
typedef uint8_t e4m3;  /* OCP FP8 E4M3FN: no infinities, 0x7f and 0xff are NaN */
typedef uint8_t e5m2;  /* OCP FP8 E5M2: the upper half of a binary16 */

static inline float bf16_to_float(bf16 h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Round to nearest, ties to even; any NaN becomes the quiet NaN 0x7fff. */
static inline bf16 float_to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (f != f)
        return 0x7fff;
    return (bf16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float e4m3_to_float(e4m3 b)
{
    int exponent = (b >> 3) & 15, fraction = b & 7;
    float magnitude;
    if (exponent == 15 && fraction == 7)
        return NAN;
    magnitude = exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return b & 0x80 ? -magnitude : magnitude;
}

static inline float f16_to_float(f16 h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    float magnitude;
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else
        magnitude = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

/* A float with `fraction` fraction bits and the exponents of binary16, to nearest, ties to even; without its sign, in
 * units of the last place, which count on through the powers of two. Beyond the greatest: infinity. */
static inline uint32_t float_to_small(float magnitude, int fraction)
{
    int exponent;
    const uint32_t infinity = 31u << fraction;
    if (magnitude != magnitude)
        return (32u << fraction) - 1;
    if (magnitude >= 65536.0f)
        return infinity;
    frexpf(magnitude, &exponent); /* magnitude is below 2^exponent; subnormals have the spacing of 2^-14 */
    if (exponent < -13 || magnitude == 0)
        exponent = -13;
    return (uint32_t)((exponent + 13) << fraction) +
           (uint32_t)nearbyintf(ldexpf(magnitude, fraction + 1 - exponent));
}

/* Round to nearest, ties to even; any NaN becomes 0x7fff. */
static inline f16 float_to_f16(float f)
{
    return (f16)(float_to_small(fabsf(f), 10) | (signbit(f) && f == f ? 0x8000u : 0));
}

static inline float e5m2_to_float(e5m2 b)
{
    return f16_to_float((f16)((uint32_t)b << 8));
}

/* Round to nearest, ties to even, beyond the greatest to infinity; any NaN becomes 0x7f. */
static inline e5m2 float_to_e5m2(float f)
{
    return (e5m2)(float_to_small(fabsf(f), 2) | (signbit(f) && f == f ? 0x80u : 0));
}

#endif
