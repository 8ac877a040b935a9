/* Maps Philox words to tensor values, element by element. fill_host.c and fill_cuda.cu include it, so that
 * both produce the same bits. It uses only integer operations and correctly rounded floating-point
 * operations, never contracted (the host file is compiled with -ffp-contract=off).
 *
 * The includer defines VALUE_FN (storage class) and value_words(key, block, words). */
#ifndef UNSEEN_VALUES_H
#define UNSEEN_VALUES_H

#include "problems/fill.h"
#include "problems/format.h"
#include "gen/random/philox.h"

#ifdef __CUDA_ARCH__
#define VALUE_MUL(a, b) __dmul_rn(a, b)
#define VALUE_ADD(a, b) __dadd_rn(a, b)
#else
#define VALUE_MUL(a, b) ((a) * (b))
#define VALUE_ADD(a, b) ((a) + (b))
#endif

/* Random blocks of a row (not of an element) come from a separate half of the counter space. */
#define VALUE_ROW_BLOCKS ((uint64_t)1 << 63)

#define VALUE_QUIET_NAN_BITS 0x7fc00000u
#define VALUE_INF_BITS 0x7f800000u

VALUE_FN uint32_t value_to_bits(float f)
{
    union {
        float f;
        uint32_t u;
    } both;
    both.f = f;
    return both.u;
}

VALUE_FN float value_from_bits(uint32_t u)
{
    union {
        float f;
        uint32_t u;
    } both;
    both.u = u;
    return both.f;
}

/* A quiet NaN of either sign and any payload, since a kernel may handle only one pattern. A signalling NaN
 * would become quiet in arithmetic, and a copy through a register may or may not change it. The poison of
 * outputs is a signalling NaN. */
VALUE_FN float value_nan(uint32_t w)
{
    return value_from_bits(VALUE_QUIET_NAN_BITS | (w & 0x803fffffu));
}

/* Value of undefined storage at element i. It is NaN in one input draw, and 2^126 with either sign in the
 * next. fmaxf and `>` ignore NaN, so only large values expose a maximum over such elements. The multiplier is
 * 2^32 over the golden ratio. */
VALUE_FN float value_garbage(int64_t i, int content)
{
    const uint32_t w = (uint32_t)i * 0x9e3779b1u;
    return content % 2 == 0 ? value_nan(w) : value_from_bits(0x7e800000u | (w & 0x80000000u));
}

/* The sum of eight 16-bit uniforms, centred and scaled to variance 1: variance of the sum is
 * 8 (2^32 - 1)/12, its square root 53509.97. */
VALUE_FN double value_normal(const uint32_t w[4])
{
    int32_t sum = -4 * 65535;
    for (int j = 0; j < 4; j++)
        sum += (int32_t)(w[j] & 0xffff) + (int32_t)(w[j] >> 16);
    return VALUE_MUL((double)sum, 1.0 / 53509.970753);
}

/* Four such values from one block, number 0..3: sums of the words' halves with the signs of a Hadamard
 * matrix. They are uncorrelated (and would be independent if the sums were Gaussian). */
VALUE_FN double value_normal_lane(const uint32_t w[4], int lane)
{
    int32_t half[4];
    for (int j = 0; j < 4; j++)
        half[j] = (int32_t)(w[j] & 0xffff) + (int32_t)(w[j] >> 16) - 65535;
    const int32_t even = lane & 1 ? half[0] - half[1] : half[0] + half[1];
    const int32_t odd = lane & 1 ? half[2] - half[3] : half[2] + half[3];
    return VALUE_MUL((double)(lane & 2 ? even - odd : even + odd), 1.0 / 53509.970753);
}

VALUE_FN double value_affine(double a, double b, double z)
{
    return VALUE_ADD(a, VALUE_MUL(b, z));
}

VALUE_FN double value_unit(uint32_t w)
{
    return VALUE_MUL((double)(w >> 8), 1.0 / 16777216.0);
}

VALUE_FN float value_power(int exponent, uint32_t fraction, uint32_t negative)
{
    return value_from_bits((negative << 31) | (uint32_t)(exponent + 127) << 23 | fraction);
}

VALUE_FN int value_exponent(const struct fill *f, uint32_t w)
{
    return (int)f->a + (int)(w % (uint32_t)((int)f->b - (int)f->a + 1));
}

/* Rows with special values of softmax: NaN, infinities, signed zeros, subnormals. */
VALUE_FN float value_special(const struct fill *f, const uint32_t row[4], int64_t at, const uint32_t w[4])
{
    const int64_t spot = (int64_t)(row[1] % (uint64_t)f->inner);
    const float plain = (float)VALUE_MUL((double)f->b, value_normal(w));
    switch (row[0] % 8) {
    case 1: return at == spot ? value_nan(w[1]) : plain;
    case 2: return at == spot ? value_from_bits(VALUE_INF_BITS) : plain;
    case 3: return value_from_bits(VALUE_INF_BITS | 0x80000000u);
    case 4: /* about half of the row is -inf */
        return at != spot && (w[0] & 1) ? value_from_bits(VALUE_INF_BITS | 0x80000000u) : plain;
    case 5: /* -inf everywhere before one place */
        return at < spot ? value_from_bits(VALUE_INF_BITS | 0x80000000u) : plain;
    case 6: /* zeros of both signs and subnormals */
        return value_from_bits((w[1] << 31) | ((w[2] & 1) ? w[3] & 0x7fffffu : 0));
    case 7: return at == spot ? value_nan(w[1]) : at == 0 ? value_from_bits(VALUE_INF_BITS) : plain;
    default: return plain;
    }
}

/* Rows with infinities, for problems that order values (such as top-k). */
VALUE_FN float value_infinite(const struct fill *f, const uint32_t row[4], int64_t at, const uint32_t w[4],
                              float plain)
{
    const float up = value_from_bits(VALUE_INF_BITS);
    switch (row[0] % 4) {
    case 0: return w[1] % 16 ? plain : (w[2] & 1) ? -up : up;
    case 1: return w[1] % 64 ? -up : plain;
    case 2: return at == (int64_t)(row[1] % (uint64_t)f->inner) ? up : plain;
    default: return (w[1] & 1) ? -up : plain;
    }
}

/* The largest values of a row are adjacent. */
VALUE_FN float value_cluster(const struct fill *f, const uint32_t row[4], int64_t at, float plain)
{
    const int64_t first = (int64_t)(row[0] % (uint64_t)f->inner), length = 1 + f->inner / 16;
    return at >= first && at < first + length ? plain + 16 * f->b : plain;
}

/* One value far above the rest, at a place that faulty kernels tend to drop: the last, the first, or the
 * start of a tile. */
VALUE_FN float value_peak(const struct fill *f, const uint32_t r[4], int64_t row, int64_t at, float plain)
{
    const int64_t last = f->inner - 1;
    const int64_t place[] = {last, 0, r[0] & 1 ? last / 32 * 32 : last / 1024 * 1024,
                             (int64_t)(r[1] % (uint64_t)f->inner)};
    return at == place[row % 4] ? f->a : plain;
}

/* Floats of one sign that are close in bit order, from 0 or a normal number upward. All are finite, since a
 * row spans at most 2^20 bit patterns. */
VALUE_FN float value_neighbour(const struct fill *f, const uint32_t r[4], int64_t row, uint32_t w)
{
    const uint32_t span = row % 2 ? 2u << r[0] % 6 : (uint32_t)f->inner;
    const uint32_t base = r[1] % 8 ? (1 + r[2] % 252) << 23 | r[3] >> 9 : 0;
    return value_from_bits((r[1] & 0x80000000u) | (base + w % span));
}

/* Kinds of fill whose elements depend on their position in a row. */
VALUE_FN float value_of_row(const struct fill *f, struct philox_key key, int64_t i, const uint32_t w[4])
{
    const int64_t row = i / f->inner, at = i % f->inner;
    uint32_t r[4];
    value_words(key, VALUE_ROW_BLOCKS + (uint64_t)row, r);
    switch (f->kind) {
    case FILL_SORTED: {
        const double low = value_affine(f->a, 1, value_normal(r));
        const double step = VALUE_MUL((double)f->b - f->a, 1.0 / (double)f->inner);
        return (float)value_affine(low, step, (double)(row % 2 ? f->inner - 1 - at : at));
    }
    case FILL_ROWS_EQUAL: return (float)value_affine(f->a, f->b, value_normal(r));
    case FILL_DIGITS: {
        const int64_t spot = row % 2 ? (int64_t)(r[0] % (uint64_t)f->inner) : 0;
        return (float)VALUE_ADD((double)(r[1] % 17) - 8, at == spot ? 0.0 : (double)f->a);
    }
    case FILL_EXTREME:
        for (int j = 0; j < 4; j++)
            if (at == (int64_t)(r[j] % (uint64_t)f->inner))
                return f->a;
        return (float)VALUE_MUL((double)f->b, value_normal(w));
    case FILL_ONEHOT: return at == (int64_t)(r[0] % (uint64_t)f->inner) ? f->b : 0;
    case FILL_TURNS: {
        const int64_t turns = f->inner < 32 ? f->inner : 32, part = f->inner / turns;
        const int64_t first = i / f->block % turns * part;
        return at == first + (int64_t)(r[0] % (uint64_t)part) ? f->b : 0;
    }
    case FILL_INFINITIES: return value_infinite(f, r, at, w, (float)VALUE_MUL((double)f->b, value_normal(w)));
    case FILL_PEAK: return value_peak(f, r, row, at, (float)VALUE_MUL((double)f->b, value_normal(w)));
    case FILL_NEIGHBOURS: return value_neighbour(f, r, row, w[0]);
    case FILL_CLUSTER: return value_cluster(f, r, at, (float)VALUE_MUL((double)f->b, value_normal(w)));
    default: return value_special(f, r, at, w);
    }
}

VALUE_FN float value_cancel(const struct fill *f, struct philox_key key, int64_t i)
{
    const int64_t odd = (i % f->inner) & 1;
    uint32_t w[4];
    value_words(key, (uint64_t)(i - odd), w);
    const double first = VALUE_MUL((double)f->b, value_normal(w));
    return (float)(odd ? VALUE_MUL(first, (w[0] & 1) ? -1.015625 : -0.984375) : first);
}

/* NaN; if the fill also has infinities, NaN or an infinity. */
VALUE_FN float value_not_finite(const struct fill *f, const uint32_t w[4])
{
    const uint32_t kind = f->a != 0 ? w[0] % 3 : 0;
    return kind == 0 ? value_nan(w[1]) : value_from_bits(VALUE_INF_BITS | (kind == 1 ? 0 : 0x80000000u));
}

/* Typical decays of a recurrence, one kind per channel. */
VALUE_FN float value_channel(const struct fill *f, int64_t i, const uint32_t w[4])
{
    const double unit = value_unit(w[0]);
    switch (i % f->inner % 4) {
    case 0: return (float)VALUE_MUL(-0x1p-10, unit);
    case 1: return (float)value_affine(-0.5, -7.5, unit);
    case 2: {
        const float g = (float)VALUE_MUL(0.1, value_normal(w));
        return g < 0 ? g : -g;
    }
    default: return (float)value_affine(-f->a / 2, 1.5 * f->a, unit);
    }
}

VALUE_FN int value_nibble(const struct fill *f, const uint32_t w[4], int lane)
{
    const double q = VALUE_ADD(value_affine(f->a, f->b, value_normal_lane(w, lane)), 0.5);
    return q < 0 ? 0 : q >= 15 ? 15 : (int)q;
}

/* +-1, and at every second position also odd integers of 13 to 18 bits. */
VALUE_FN float value_odd(const struct fill *f, int64_t i, const uint32_t w[4])
{
    const int turn = (i / f->step % f->inner & 1) == (int64_t)f->a;
    const uint32_t top = 4096u << w[1] % 6, size = (top | (w[3] & (top - 1))) | 1u;
    const float value = turn && value_unit(w[2]) < (double)f->b ? (float)size : 1;
    if (value_unit(w[0]) >= (double)f->density)
        return 0;
    return (w[2] & 1) ? -value : value;
}

/* Scales each part by a power of two, which is exact except for subnormals. */
VALUE_FN float value_uneven(const struct fill *f, struct philox_key key, int64_t i, const uint32_t w[4])
{
    uint32_t r[4];
    value_words(key, VALUE_ROW_BLOCKS + (uint64_t)(i / f->step % f->inner), r);
    if (value_unit(r[0]) >= (double)f->density)
        return 0;
    return (float)VALUE_MUL((double)value_power(value_exponent(f, r[1]), 0, 0), value_normal(w));
}

VALUE_FN float value_level(const struct fill *f, const uint32_t w[4])
{
    if (value_unit(w[1]) < (double)f->density)
        return (w[2] & 1) ? f->a + f->b - 1 : f->a;
    return f->a + (float)(w[0] % (uint32_t)f->b);
}

/* A value adjacent to the threshold t. For t = 0 it is a power of two that stays normal after scaling by
 * 2^-26, since kernels may flush subnormals to 0. */
VALUE_FN float value_beside(float t, int64_t step, int up)
{
    const uint32_t bits = value_to_bits(t);
    if (t == 0)
        return value_power(-100, 0, !up);
    return value_from_bits((t > 0) == (up != 0) ? bits + (uint32_t)step : bits - (uint32_t)step);
}

VALUE_FN float value_decision(const struct fill *f, struct philox_key key, int64_t i, const uint32_t w[4])
{
    uint32_t r[4];
    if (f->level_count == 0 || value_unit(w[0]) >= (double)f->density) {
        /* w[0] is not uniform here: it was compared with the density */
        value_words(key, VALUE_ROW_BLOCKS + (uint64_t)i, r);
        if (f->step == -1)
            return f->a + (float)(r[0] % (uint32_t)f->b);
        return (float)value_affine(f->a, f->b, value_normal(r));
    }
    const float t = f->level[w[1] % (uint32_t)f->level_count];
    return f->step <= 0 || w[2] % 4 < 2 ? t : value_beside(t, f->step, w[2] % 4 == 3);
}

/* The index of the Philox block for element i. */
VALUE_FN uint64_t value_block(const struct fill *f, int64_t i)
{
    return (uint64_t)(f->kind == FILL_NORMAL ? i / 4 : i);
}

/* Element i of a tensor as a float; w holds its block. The caller resolves gathers. */
VALUE_FN float value_draw(const struct fill *f, struct philox_key key, int64_t i, const uint32_t w[4])
{
    switch (f->kind) {
    case FILL_CONSTANT: return f->a;
    case FILL_NORMAL: return (float)value_affine(f->a, f->b, value_normal_lane(w, (int)(i % 4)));
    case FILL_UNIFORM: return (float)value_affine(f->a, (double)f->b - f->a, value_unit(w[0]));
    case FILL_INTEGERS:
        if (value_unit(w[0]) >= (double)f->density)
            return 0;
        return (w[2] & 1) ? -(float)(1 + w[1] % (uint32_t)f->b) : (float)(1 + w[1] % (uint32_t)f->b);
    case FILL_POWERS: return value_power(value_exponent(f, w[0]), 0, f->density == 0 ? w[1] & 1 : 0);
    case FILL_WIDE: return value_power(value_exponent(f, w[0]), w[1] >> 9, w[2] & 1);
    case FILL_LEVELS: return value_level(f, w);
    case FILL_UNEVEN: return value_uneven(f, key, i, w);
    case FILL_CANCEL: return value_cancel(f, key, i);
    case FILL_NANS:
        if (value_unit(w[3]) < (double)f->density)
            return value_not_finite(f, w);
        return (float)VALUE_MUL((double)f->b, value_normal(w));
    case FILL_NIBBLES: return (float)(value_nibble(f, w, 0) | value_nibble(f, w, 1) << 4);
    case FILL_SIGNS: return (w[0] & 1) ? -f->b : f->b;
    case FILL_FRACTIONS: return w[0] % 4 < 2 ? (float)(w[0] % 4) : (float)value_unit(w[1]);
    case FILL_CHANNELS: return value_channel(f, i, w);
    case FILL_ODD: return value_odd(f, i, w);
    case FILL_EARLY:
        return i % f->block >= f->early && i % f->inner >= f->inner / 2
                   ? 0
                   : (float)VALUE_MUL((double)f->b, value_normal(w));
    case FILL_ZEROS: return value_from_bits((w[1] << 31) | ((w[2] & 1) ? w[3] & 0x7fffffu : 0));
    case FILL_DECISION: return value_decision(f, key, i, w);
    case FILL_MOSTLY: return value_unit(w[0]) >= (double)f->density ? f->a : (float)(w[1] % (uint32_t)f->b);
    default: return value_of_row(f, key, i, w);
    }
}

/* False for undefined storage (see fill.h). */
VALUE_FN int value_is_real(const struct fill *f, const int32_t *valid, int64_t i)
{
    return i % f->garbage_block / f->garbage_row < valid[i / f->garbage_block];
}

/* A drawn number loses its fraction where whole numbers are drawn from a range: rounding could leave it. */
VALUE_FN void value_store(enum dtype dtype, void *out, int64_t i, float value)
{
    const int cut = dtype == DTYPE_I32 || dtype == DTYPE_I64 || dtype == DTYPE_U8;
    dtype_store_single(dtype, out, i, cut ? truncf(value) : value);
}

#endif
