/* Conversions for host candidates written in C, where a 16-bit or 8-bit float
 * arrives as its bits. CUDA candidates use cuda_bf16.h and cuda_fp8.h instead. */
#ifndef UNSEEN_CANDIDATE_H
#define UNSEEN_CANDIDATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16; /* 1 sign, 8 exponent, 7 fraction bits */
typedef uint8_t e4m3;  /* OCP FP8 E4M3FN: no infinities, 0x7f and 0xff are NaN */

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

#endif
