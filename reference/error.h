/* The error model: the deviation allowed to an honest kernel in the declared arithmetic, per element.
 * Pure functions of doubles, the same on the host and in kernels; no tolerance is defined anywhere else.
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

/* An arithmetic in which a kernel may form its sums. It adds k terms per step, and a step errs by at most d
 * times the running magnitude. Here d = 2^-24 for one fused multiply-add, and d = (k+1) 2^-F + 2^-m for a
 * matrix unit that aligns k products to F fraction bits and accumulates m (bit-accurate model: MMA-Sim).
 * `operand` is the rounding of operands that the format cannot represent. */
struct arithmetic {
    const char *name;
    double d;
    int k;
    double operand;
    double exact_below; /* sums of integers below this are exact */
    double truncation; /* 2^-F if the unit truncates toward zero with so few bits that T3 is needed; else 0 */
};

enum { ARITHMETIC_MAX = 8 };

/* The arithmetic classes of a problem on a device, tightest first. `admitted` is the loosest class that the
 * declared arithmetic allows. Looser classes only serve to name a silent downgrade. */
struct arithmetics {
    struct arithmetic item[ARITHMETIC_MAX];
    int count, admitted; /* classes up to `admitted` are honest */
};

#ifdef __cplusplus
extern "C" {
#endif
/* capability: 10*major + minor of the GPU (90: Hopper), 0 for the host. */
void error_arithmetics(const struct problem *problem, int capability, struct arithmetics *out);
#ifdef __cplusplus
}
#endif

/* Properties of a sum of `terms` terms p: its exact value, sum |p| and sum p^2. */
struct sum_facts {
    double terms, value, magnitude, square;
    double unit; /* DATA_EXACT: every term is a multiple of it; else 0 */
};

/* T2 for terms with random signs: nb d max(|s|, ||p||_2), with nb = ceil(terms / k) steps.
 *
 * With 13 bits, T2 reaches the size of the result from about 8000 terms on, and would accept zeros. T3 is
 * tighter at any length, for a unit that truncates toward zero. Each product loses less than one unit of
 * the last place kept, 2^-F of the running size, toward zero: these losses have random signs and mean
 * square 1/3. The old and the new sum lose as much when the leading bit moves; otherwise the old sum is a
 * multiple of that unit and loses nothing. The running sum is a random walk from 0 to s. Its size is at
 * most |s| + ||p|| except for the tails, and half of that on average. So the deviation is below
 * sqrt(nb (k+2) / 3) 2^-F (|s| + ||p||), and T3 = 2 sqrt(nb (k+2)) 2^-F (|s| + ||p||) is 3.5 times that.
 * Products that lean toward s lose toward it, too: 2^-F sqrt(k nb) |s| / 4 times |s| / ||p||.
 *
 * A bit-accurate test used normal, wide and cancelling data, 8 to 16384 terms, promoted every 1 to all steps.
 * Honest sums reached 0.45 T3, at one step of 32 with one dominating product, and 0.3 T3 at 16384 terms.
 * A unit that rounds down instead would exceed T3; `make check-gpu` tests the GPU at hand. */
ERROR_FN double error_of_walk(const struct arithmetic *a, const struct sum_facts *s)
{
    const double steps = ceil(s->terms / a->k), norm = sqrt(s->square), value = fabs(s->value);
    const double count = s->terms < a->k ? s->terms : a->k; /* products per step */
    if (a->truncation > 0)
        return 2 * sqrt(steps * (count + 2)) * a->truncation * (value + norm);
    return steps * a->d * (value > norm ? value : norm);
}

/* T1 of the error model, nb d sum|p|, for any data; T2 or T3 if the terms have random signs. Zero if the
 * sum is exact: integers so small that no partial sum, in any order, leaves the accumulator's exact range.
 * Rounded operands add their own error.
 *
 * T1 is proved, except for splits into parts of fewer terms than a step takes. With at most k terms in s
 * parts the bound is (d + (s - 1) u) sum|p|; the largest error seen was 0.18 of it.
 * In fp32, k additions and products, in any order and any split, with or without compensation, err by at most
 * k u sum|p| (Jeannerod and Rump 2013).
 * A step of a matrix unit loses less than 2^(t-F) for each of k + 1 terms, where 2^t is the power of two
 * below the largest of these terms and the running sum. It loses 2^(t-m) for the result, with the t of the
 * result. Truncation only shrinks values, so 2^t <= sum|p| in any order: d sum|p| per step.
 * If sums are promoted to fp32 every c steps, or split s ways, the parts' bounds add up to no more. The
 * merging costs (nb/c + s) u sum|p|, and the shorter chains save d each.
 * Units with fewer terms per step (m16n8k8), or three TF32 terms in succession, have no such proof at their
 * own k. They stay below 0.64 of the bound (uniform, all positive data: half of the cut part is lost).
 *
 * T2 is not proved. It holds if the losses have random signs, or follow the running sum, whose mean size is
 * below max(|s|, ||p||). The largest ratio found with round to nearest is 0.63 (3 terms), and 0.1 from 64
 * terms on; with matrix units 0.42. Terms sorted by sign before truncation would exceed it: no kernel sorts.
 *
 * If the squares overflow in single precision they carry no information. Then T1 is used, which may be
 * infinite. */
ERROR_FN double error_of_sum(const struct arithmetic *a, enum data_kind data, const struct sum_facts *s)
{
    const double norm = sqrt(s->square), value = fabs(s->value);
    if (data == DATA_EXACT && s->magnitude <= s->unit * a->exact_below)
        return 0;
    if (data == DATA_SIGN_RANDOM && !isinf(norm))
        return error_of_walk(a, s) + 2 * a->operand * (value > norm ? value : norm);
    return (ceil(s->terms / a->k) * a->d + 2 * a->operand) * s->magnitude;
}

/* A floating-point format: unit roundoff, smallest normal and largest finite value. */
struct format {
    double unit, smallest, largest;
};

ERROR_FN struct format error_format(enum dtype dtype)
{
    const struct format f64 = {0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023};
    switch (dtype) {
#define DTYPE(id, name, bits, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit,  \
              smallest, largest, ...)                                                                        \
    case DTYPE_##id: {                                                                                       \
        const struct format row = {unit, smallest, largest};                                                 \
        return row;                                                                                          \
    }
#include "../problems/dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
    return f64;
}

/* Value that stands for an infinite result if the exact value is finite: the first power of two beyond the
 * format. A double, which holds values before rounding, uses the limit of fp32. */
ERROR_FN double error_overflow(enum dtype dtype)
{
    switch (dtype) {
#define DTYPE(id, name, bits, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit,  \
              smallest, largest, infinity, ...)                                                              \
    case DTYPE_##id:                                                                                         \
        return infinity;
#include "../problems/dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
    return 0x1p128;
}

/* Half the spacing of the format at magnitude x: half an ulp, or half the smallest subnormal near 0. */
ERROR_FN double error_half_ulp(struct format f, double x)
{
    union {
        double value;
        uint64_t bits;
    } power;
    power.value = fabs(x) > f.smallest ? fabs(x) : f.smallest;
    power.bits &= 0x7ff0000000000000u; /* rounds down to a power of two */
    return power.value * f.unit;
}

/* Error added by one rounding to the format, for a value x that is off by at most `error`. If error is 0, the
 * rounded value is a nearest representable one, and its exact distance is returned. */
ERROR_FN double error_of_rounding(struct format f, double x, double error)
{
    if (error == 0) {
        const double spacing = 2 * error_half_ulp(f, x);
        return fabs(x - spacing * rint(x / spacing));
    }
    return error_half_ulp(f, fabs(x) + error);
}

#endif
