/* Arithmetic for programs with switches, on the host and in kernels: roundings to short formats, parts of
 * orders of summation, a matrix unit bit by bit. */
#ifndef UNSEEN_TEST_ARITHMETIC_H
#define UNSEEN_TEST_ARITHMETIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define HONEST_FN static inline __host__ __device__
#else
#define HONEST_FN static inline __attribute__((unused))
#endif

HONEST_FN uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

HONEST_FN float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A single rounded to `kept` significant bits (24: itself), to nearest even, or, with `down`, toward zero.
 * Its exponent range stays a single's. bf16 keeps 8, TF32 and fp16 keep 11. */
HONEST_FN float keep_bits(float x, int kept, bool down)
{
    const uint32_t bits = bits_of(x), drop = (uint32_t)(24 - kept);
    if (drop == 0 || (bits & 0x7f800000u) == 0x7f800000u)
        return x;
    const uint32_t half = down ? 0 : (1u << (drop - 1)) - 1 + (bits >> drop & 1);
    return float_of((bits + half) & ~((1u << drop) - 1));
}

HONEST_FN float to_bf16(float x)
{
    return keep_bits(x, 8, false);
}
HONEST_FN float to_tf32(float x)
{
    return keep_bits(x, 11, false);
}

/* fp16, its subnormals and its overflow included. */
HONEST_FN float to_fp16(float x)
{
    const float size = fabsf(x);
    if (!(size < 65520.0f)) /* NaN stays NaN */
        return x != x ? x : copysignf(INFINITY, x);
    if (size < 0x1p-14f)
        return rintf(x * 0x1p24f) * 0x1p-24f;
    return keep_bits(x, 11, false);
}

HONEST_FN int exponent_of(double x)
{
    return x == 0 ? -100000 : ilogb(x);
}

/* One step of a matrix unit that adds `count` exact products to `acc`. All are aligned to their greatest
 * exponent and truncated toward zero at `fraction` bits below it. They are added exactly, and the sum is
 * truncated to `kept` bits after the leading one. (count, fraction, kept): Hopper's 16-bit operands (16, 25,
 * 23), its fp8 (32, 13, 13), Ampere's 16-bit (8, 24, 23). (After the bit-accurate model MMA-Sim.) Finite
 * operands only. */
HONEST_FN double matrix_step(double acc, const double *product, int count, int fraction, int kept)
{
    int top = exponent_of(acc);
    for (int i = 0; i < count; i++)
        top = exponent_of(product[i]) > top ? exponent_of(product[i]) : top;
    if (top <= -100000)
        return 0;
    const double unit = ldexp(1.0, top - fraction);
    double sum = trunc(acc / unit);
    for (int i = 0; i < count; i++)
        sum += trunc(product[i] / unit);
    sum *= unit;
    if (sum == 0)
        return 0;
    const double least = ldexp(1.0, exponent_of(sum) - kept);
    return trunc(sum / least) * least;
}

#endif
