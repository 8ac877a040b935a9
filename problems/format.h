/* Conversions between floating-point formats below 32 bits and fp32, with the same bits on the host and in
 * kernels. All parts of the tool use them. They round to nearest, ties to even; NaN keeps its sign and
 * becomes quiet. */
#ifndef UNSEEN_FORMAT_H
#define UNSEEN_FORMAT_H

#include <stdint.h>

#ifdef __CUDACC__
#define FORMAT_FN static inline __host__ __device__
#else
#define FORMAT_FN static inline
#endif

#define FORMAT_INFINITY 0x7f800000u

FORMAT_FN uint32_t format_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } both;
    both.value = value;
    return both.bits;
}

FORMAT_FN float format_single(uint32_t bits)
{
    union {
        float value;
        uint32_t bits;
    } both;
    both.bits = bits;
    return both.value;
}

FORMAT_FN double format_double(uint64_t bits)
{
    union {
        double value;
        uint64_t bits;
    } both;
    both.bits = bits;
    return both.value;
}

FORMAT_FN uint64_t format_double_bits(double value)
{
    union {
        double value;
        uint64_t bits;
    } both;
    both.value = value;
    return both.bits;
}

FORMAT_FN float single_from_bf16(uint16_t bits)
{
    return format_single((uint32_t)bits << 16);
}

/* NaN keeps the upper part of its payload. */
FORMAT_FN uint16_t bf16_from_single(float value)
{
    const uint32_t bits = format_bits(value);
    if ((bits & 0x7fffffffu) > FORMAT_INFINITY)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. With its fraction shifted into place, its
 * bits read as fp32 are too small by 2^112. This holds for subnormals, too, which fp32 can represent. */
FORMAT_FN float single_from_f16(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, magnitude = (uint32_t)(bits & 0x7fffu) << 13;
    if ((bits & 0x7c00u) == 0x7c00u)
        return format_single(sign | FORMAT_INFINITY | magnitude);
    return format_single(sign | format_bits(format_single(magnitude) * 0x1p112f));
}

FORMAT_FN uint16_t f16_from_single(float value)
{
    const uint32_t bits = format_bits(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > FORMAT_INFINITY)
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
    if (magnitude >= 0x477ff000u) /* 65520: halfway between 65504 and the next step */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude <
        0x38800000u) /* below 2^-14: add 2^-1, whose ulp is the subnormals' 2^-24, to round to it */
        return (uint16_t)(sign | (format_bits(format_single(magnitude) + 0.5f) - format_bits(0.5f)));
    return (uint16_t)(sign | (((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10)));
}

/* OCP FP8 E5M2: the upper half of a binary16. */
FORMAT_FN float single_from_e5m2(uint8_t bits)
{
    return single_from_f16((uint16_t)((uint32_t)bits << 8));
}

FORMAT_FN uint8_t e5m2_from_single(float value)
{
    const uint32_t bits = format_bits(value), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
    if (magnitude > FORMAT_INFINITY)
        return (uint8_t)(sign | 0x7eu | (magnitude >> 21 & 1u));
    if (magnitude >= 0x47700000u) /* 61440: halfway between 57344 and the next step */
        return (uint8_t)(sign | 0x7cu);
    if (magnitude < 0x38800000u) /* below 2^-14: add 2^7, whose ulp is the subnormals' 2^-16 */
        return (uint8_t)(sign | (format_bits(format_single(magnitude) + 128.0f) - format_bits(128.0f)));
    return (uint8_t)(sign | (((magnitude + 0xfffffu + (magnitude >> 21 & 1u)) >> 21) - (112u << 2)));
}

/* OCP FP8 E4M3FN: 4 exponent bits (bias 7), 3 fraction bits, no infinities; NaN is 0x7f and 0xff. */
FORMAT_FN float single_from_e4m3(uint8_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x80u) << 24, magnitude = (uint32_t)(bits & 0x7fu) << 20;
    if ((bits & 0x7fu) == 0x7fu)
        return format_single(sign | FORMAT_INFINITY | 0x400000u);
    return format_single(sign | format_bits(format_single(magnitude) * 0x1p120f));
}

/* Saturates at +-448. */
FORMAT_FN uint8_t e4m3_from_single(float value)
{
    const uint32_t bits = format_bits(value), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
    if (magnitude > FORMAT_INFINITY)
        return (uint8_t)(sign | 0x7fu);
    if (magnitude >= 0x43e80000u) /* 464: halfway between 448 and the next step */
        return (uint8_t)(sign | 0x7eu);
    if (magnitude < 0x3c800000u) /* below 2^-6: add 2^14, whose ulp is the subnormals' 2^-9, to round to it */
        return (uint8_t)(sign | (format_bits(format_single(magnitude) + 16384.0f) - format_bits(16384.0f)));
    return (uint8_t)(sign | (((magnitude + 0x7ffffu + (magnitude >> 20 & 1u)) >> 20) - (120u << 3)));
}

/* OCP E2M1: 2 exponent bits (bias 1), 1 fraction bit, neither infinities nor NaN. The numbers are 0, 0.5, 1,
 * 1.5, 2, 3, 4 and 6. */
FORMAT_FN float single_from_e2m1(uint8_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 8u) << 28, magnitude = (uint32_t)(bits & 7u) << 22;
    return format_single(sign | format_bits(format_single(magnitude) * 0x1p126f));
}

/* Saturates at +-6; NaN becomes 6. */
FORMAT_FN uint8_t e2m1_from_single(float value)
{
    const uint32_t bits = format_bits(value), sign = bits >> 28 & 8u, magnitude = bits & 0x7fffffffu;
    if (magnitude > FORMAT_INFINITY)
        return 7;
    if (magnitude >= 0x40a00001u) /* above 5, halfway between 4 and 6 */
        return (uint8_t)(sign | 7u);
    if (magnitude < 0x3f800000u) /* below 1: add 2^22, whose ulp is the subnormals' 0.5, to round to it */
        return (uint8_t)(sign | (format_bits(format_single(magnitude) + 0x1p22f) - format_bits(0x1p22f)));
    return (uint8_t)(sign | (((magnitude + 0x1fffffu + (magnitude >> 22 & 1u)) >> 22) - (126u << 1)));
}

/* Memory offset of element i of a tensor whose rows of `width` elements are `pitch` elements apart; pitch 0:
 * dense. */
FORMAT_FN int64_t format_place(int64_t width, int64_t pitch, int64_t i)
{
    return pitch ? i / width * pitch + i % width : i;
}

/* The nearest integer within [least, most], ties to even; NaN becomes 0. */
FORMAT_FN int32_t integer_from_single(float value, int32_t least, int32_t most)
{
    if (value != value)
        return 0;
    if (value <= (float)least)
        return least;
    if (value >= (float)most)
        return most;
    const int32_t below = (int32_t)value - (value < (float)(int32_t)value);
    const float rest = value - (float)below;
    return below + (rest > 0.5f || (rest == 0.5f && below % 2 != 0));
}

#endif
