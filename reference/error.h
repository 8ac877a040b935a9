/* The error model: what an honest kernel in the declared arithmetic may deviate, element by element.
 * Plain functions of doubles, the same on the host and in kernels; no tolerance lives anywhere else.
 *
 * Unit roundoffs: fp32 2^-24, tf32 and fp16 2^-11, bf16 2^-8. */
#ifndef UNSEEN_ERROR_H
#define UNSEEN_ERROR_H

#include <math.h>
#include <stdbool.h>

#include "problems/problem.h"

#ifdef __CUDACC__
#define ERROR_FN static inline __host__ __device__
#else
#define ERROR_FN static inline
#endif

#define UNIT_F32 0x1p-24
#define UNIT_BF16 0x1p-8
#define UNIT_F16 0x1p-11

/* An arithmetic that a kernel may have used for its sums. Terms are added k at a time; each such step
 * errs by at most d times the running magnitude: d = 2^-24 for one fused multiply-add, (k+1) 2^-F +
 * 2^-m for a matrix unit that aligns k products to F fraction bits and keeps m in the accumulator
 * (bit-accurate model: MMA-Sim). `operand` is the rounding of operands that the format cannot hold. */
struct arithmetic {
    const char *name;
    double d;
    int k;
    double operand;
    double exact_below; /* integers below this are summed without error */
    double truncation;  /* 2^-F of a unit that truncates toward zero at so few bits that T3 matters; or 0 */
};

enum { ARITHMETIC_MAX = 8 };

/* The arithmetic classes of a problem on a device, tightest first; `admitted` is the loosest that the
 * declared arithmetic allows there. The rest only gives a silent downgrade its name. */
struct arithmetics {
    struct arithmetic item[ARITHMETIC_MAX];
    int count, admitted; /* honest: any class up to `admitted` */
};

#ifdef __cplusplus
extern "C" {
#endif
/* capability: 10*major + minor of the GPU (90: Hopper), 0 for the host. */
void error_arithmetics(const struct problem *problem, int capability, struct arithmetics *out);
#ifdef __cplusplus
}
#endif

/* A sum of `terms` terms: its exact value, sum |p| and sum p^2. */
struct sum_facts {
    double terms, value, magnitude, square;
    double unit; /* DATA_EXACT: every term is a multiple of this; else 0 */
};

/* T2 for terms with random signs: nb d max(|s|, ||p||_2), nb = ceil(terms / k) steps.
 *
 * With 13 bits that is as large as the result itself from some 8000 terms on, and accepts zeros. T3 is tighter,
 * at any length, for a unit that truncates toward zero. Of each product it loses less than one unit of the last place
 * kept, 2^-F of the running size, toward zero: terms of random sign and of mean square 1/3. So do the old sum and the
 * new one where the leading bit moves; elsewhere the old sum is a multiple of that unit and loses nothing. The running
 * sum is a walk from 0 to s, of size |s| + ||p|| at most but for its tails and half of it on average: the deviation is
 * below sqrt(nb (k+2) / 3) 2^-F (|s| + ||p||), and T3 = 2 sqrt(nb (k+2)) 2^-F (|s| + ||p||) is 3.5 times that bound.
 * Products that lean toward s lose toward it, too: 2^-F sqrt(k nb) |s| / 4 times |s| / ||p||.
 * (Bit by bit, normal, wide and cancelling data, 8 to 16384 terms, promoted every 1 to all steps: honest sums reach
 * 0.45 T3, at one step of 32 with one product dominating; 0.3 at 16384. A unit that rounds down instead would exceed it;
 * `make check-gpu` asks the GPU in hand.) */
ERROR_FN double error_of_walk(const struct arithmetic *a, const struct sum_facts *s)
{
    const double steps = ceil(s->terms / a->k), norm = sqrt(s->square), value = fabs(s->value);
    const double count = s->terms < a->k ? s->terms : a->k; /* of a step's products */
    if (a->truncation > 0)
        return 2 * sqrt(steps * (count + 2)) * a->truncation * (value + norm);
    return steps * a->d * (value > norm ? value : norm);
}

/* T1 of the error model, nb d sum|p|, for any data; T2 or T3 where the terms have random signs; nothing
 * where the sum is exact: integers small enough that no partial sum, in any order, leaves the
 * accumulator's exact range. Rounded operands err besides.
 *
 * T1 is proved but for splits into parts of fewer terms than one step takes: with at most k terms in s parts the
 * bound is (d + (s - 1) u) sum|p|, of which 0.18 was the most seen. fp32: k additions and products, in any order and any split, with or without compensation, err by
 * at most k u sum|p| (Jeannerod and Rump 2013). A matrix unit's step loses less than 2^(t-F) of each of k + 1 terms,
 * 2^t the power of two below the greatest of them and of the running sum, and 2^(t-m) of what comes out, t now that
 * one's. Truncation only shrinks, so 2^t <= sum|p| whatever the order: d sum|p| a step. Every c steps promoted to
 * fp32, or split s ways, the parts' bounds add up to no more, and the merging costs (nb/c + s) u sum|p| where the
 * shorter chains save d each. Units that take fewer terms a step (m16n8k8) or three TF32 terms one after another
 * have no such proof at their own k; they stay below 0.64 of it (uniform, all positive: half of what is cut is lost).
 *
 * T2 is not: it holds where what is lost has signs of its own, or follows the running sum, whose mean size is below
 * max(|s|, ||p||). With round to nearest the greatest ratio found is 0.63 (3 terms), 0.1 from 64 terms on; matrix
 * units 0.42. Terms sorted by sign before they are truncated would exceed it: no kernel sorts.
 *
 * Squares that overflow their singles say nothing: then T1, which may be infinite, too. */
ERROR_FN double error_of_sum(const struct arithmetic *a, enum data_kind data, const struct sum_facts *s)
{
    const double norm = sqrt(s->square), value = fabs(s->value);
    if (data == DATA_EXACT && s->magnitude <= s->unit * a->exact_below)
        return 0;
    if (data == DATA_SIGN_RANDOM && !isinf(norm))
        return error_of_walk(a, s) + 2 * a->operand * (value > norm ? value : norm);
    return (ceil(s->terms / a->k) * a->d + 2 * a->operand) * s->magnitude;
}

/* An output or intermediate format: its unit roundoff, smallest normal and largest finite value. */
struct format {
    double unit, smallest, largest;
};

ERROR_FN struct format error_format(enum dtype dtype)
{
    const struct format f32 = {UNIT_F32, 0x1p-126, 0x1.fffffep127};
    const struct format bf16 = {UNIT_BF16, 0x1p-126, 0x1.fep127};
    const struct format f64 = {0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023};
    const struct format f16 = {UNIT_F16, 0x1p-14, 65504}, e5m2 = {0x1p-3, 0x1p-14, 57344};
    const struct format e4m3 = {0x1p-4, 0x1p-6, 448};
    /* Integers lie 1 apart, as numbers do below a smallest normal beyond all of them. */
    const struct format i8 = {0x1p-8, 0x1p7, 127}, u8 = {0x1p-9, 0x1p8, 255}, boolean = {0x1p-1, 1, 1};
    const struct format i32 = {0x1p-32, 0x1p31, 0x1.fffffffcp30}, i64 = {0x1p-64, 0x1p63, 0x1p63};
    switch (dtype) {
    case DTYPE_BF16: return bf16;
    case DTYPE_F64: return f64;
    case DTYPE_F16: return f16;
    case DTYPE_E5M2: return e5m2;
    case DTYPE_E4M3: return e4m3;
    case DTYPE_I8: return i8;
    case DTYPE_U8: return u8;
    case DTYPE_BOOL: return boolean;
    case DTYPE_I32: return i32;
    case DTYPE_I64: return i64;
    case DTYPE_F32: break;
    }
    return f32;
}

/* What an infinite result counts as where the value is finite: the first power of two beyond the format. Doubles,
 * which only hold what is not rounded yet, overflow with singles. */
ERROR_FN double error_overflow(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_E5M2 ? 0x1p16 : 0x1p128;
}

/* Half the spacing of the format at magnitude x: half an ulp, half the smallest subnormal near 0. */
ERROR_FN double error_half_ulp(struct format f, double x)
{
    union {
        double value;
        uint64_t bits;
    } power;
    power.value = fabs(x) > f.smallest ? fabs(x) : f.smallest;
    power.bits &= 0x7ff0000000000000u; /* the power of two at or below */
    return power.value * f.unit;
}

/* What rounding once to the format adds to a value x that is off by at most `error` already. When it
 * is not off at all, the result is a nearest representable value: the distance to it. */
ERROR_FN double error_of_rounding(struct format f, double x, double error)
{
    if (error == 0) {
        const double spacing = 2 * error_half_ulp(f, x);
        return fabs(x - spacing * rint(x / spacing));
    }
    return error_half_ulp(f, fabs(x) + error);
}

#endif
