/* The number type of the reference mathematics in MPFR: the witness. It is passed by value, with inline
 * limbs, so the reference mathematics needs no initialization. NUM_BITS suffices to sum 2^20 terms with an
 * error far below any enclosure's radius. */
#ifndef UNSEEN_NUM_MPFR_H
#define UNSEEN_NUM_MPFR_H

#include <mpfr.h>
#include <string.h>

#include "error.h"
#include "witness_exp.h"

enum { NUM_BITS = 128, NUM_LIMBS = (NUM_BITS + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS };

typedef struct {
    int kind;
    mpfr_exp_t exponent;
    mp_limb_t limb[NUM_LIMBS];
} num;

/* Creates an mpfr_t that works on x's own limbs. */
static inline void num_open(mpfr_ptr view, num *x)
{
    mpfr_custom_init_set(view, x->kind, x->exponent, NUM_BITS, x->limb);
}

static inline void num_close(num *x, mpfr_srcptr view)
{
    x->kind = mpfr_custom_get_kind(view);
    x->exponent = mpfr_zero_p(view) || !mpfr_number_p(view) ? 0 : mpfr_custom_get_exp(view);
}

static inline void num_blank(mpfr_ptr view, num *x)
{
    x->kind = MPFR_ZERO_KIND;
    x->exponent = 0;
    memset(x->limb, 0, sizeof x->limb);
    num_open(view, x);
}

static inline num num_of(double d)
{
    num r;
    mpfr_t v;
    num_blank(v, &r);
    mpfr_set_d(v, d, MPFR_RNDN);
    num_close(&r, v);
    return r;
}

static inline double num_mid(num x)
{
    mpfr_t v;
    num_open(v, &x);
    return mpfr_get_d(v, MPFR_RNDN);
}

#define NUM_BINARY(name, operation)                                                                          \
    static inline num name(num a, num b)                                                                     \
    {                                                                                                        \
        num r;                                                                                               \
        mpfr_t va, vb, vr;                                                                                   \
        num_open(va, &a);                                                                                    \
        num_open(vb, &b);                                                                                    \
        num_blank(vr, &r);                                                                                   \
        operation(vr, va, vb, MPFR_RNDN);                                                                    \
        num_close(&r, vr);                                                                                   \
        return r;                                                                                            \
    }
NUM_BINARY(num_add, mpfr_add)
NUM_BINARY(num_sub, mpfr_sub)
NUM_BINARY(num_mul, mpfr_mul)
NUM_BINARY(num_div, mpfr_div)
#undef NUM_BINARY

#define NUM_UNARY(name, operation)                                                                           \
    static inline num name(num a)                                                                            \
    {                                                                                                        \
        num r;                                                                                               \
        mpfr_t va, vr;                                                                                       \
        num_open(va, &a);                                                                                    \
        num_blank(vr, &r);                                                                                   \
        operation(vr, va, MPFR_RNDN);                                                                        \
        num_close(&r, vr);                                                                                   \
        return r;                                                                                            \
    }
NUM_UNARY(num_neg, mpfr_neg)
#define NUM_EXP(r, a, rounding) witness_exp(r, a)
NUM_UNARY(num_exp, NUM_EXP)
NUM_UNARY(num_sqrt, mpfr_sqrt)
/* Frees MPFR's constants of this thread, which may end long before the process. */
#define NUM_LOG(r, a, rounding) (mpfr_log(r, a, rounding), mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE))
NUM_UNARY(num_log, NUM_LOG)
#undef NUM_UNARY

/* The sum in MPFR; quantities that only the error model uses stay doubles. */
struct acc {
    num total;
    double magnitude, square, terms;
};

static inline struct acc acc_zero(void)
{
    struct acc a = {.total = num_of(0)};
    return a;
}

static inline void acc_add(struct acc *s, num x)
{
    const double size = num_mid(x);
    mpfr_t total, term;
    num_open(total, &s->total);
    num_open(term, &x);
    mpfr_add(total, total, term, MPFR_RNDN);
    num_close(&s->total, total);
    s->magnitude += fabs(size);
    s->square += size * size;
    s->terms += 1;
}

/* The product of two short formats is exact in double, so one conversion and one addition suffice. */
static inline void acc_add_product(struct acc *s, double a, double b)
{
    const double p = a * b;
    mpfr_t total;
    num_open(total, &s->total);
    mpfr_add_d(total, total, p, MPFR_RNDN);
    num_close(&s->total, total);
    s->magnitude += fabs(p);
    s->square += p * p;
    s->terms += 1;
}

static inline void acc_add_scaled(struct acc *s, num x, double v)
{
    acc_add(s, num_mul(x, num_of(v)));
}

static inline void acc_merge(struct acc *into, const struct acc *from)
{
    into->total = num_add(into->total, from->total);
    into->magnitude += from->magnitude;
    into->square += from->square;
    into->terms += from->terms;
}

static inline num acc_num(const struct acc *s, double unit)
{
    (void)unit;
    return s->total;
}

static inline struct sum_facts acc_facts(const struct acc *s, double unit)
{
    struct sum_facts f = {s->terms, num_mid(s->total), s->magnitude, s->square, unit};
    return f;
}

/* In MPFR no radius is needed. */
typedef num real;

static inline real real_of(double x)
{
    return num_of(x);
}

static inline real real_scale(real x, num w)
{
    return num_mul(x, w);
}

static inline real real_add_product(real sum, real x, double v)
{
    return num_add(sum, num_mul(x, num_of(v)));
}

static inline real real_subtract(double v, real x)
{
    return num_sub(num_of(v), x);
}

static inline double real_mid(real x)
{
    return num_mid(x);
}

static inline num real_num(real x, double rad)
{
    (void)rad;
    return x;
}

#endif
