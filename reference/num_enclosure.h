/* The number type of the reference mathematics as an enclosure: a double and a rigorous bound on its distance
 * from the exact value. Used on the host and in kernels. Every bound is rounded up generously (factor
 * NUM_UP); NaN and infinity are stored in `mid`. */
#ifndef UNSEEN_NUM_ENCLOSURE_H
#define UNSEEN_NUM_ENCLOSURE_H

#include <math.h>
#include <stdint.h>

#include "error.h"

#define NUM_U 0x1p-53
#define NUM_UP (1 + 0x1p-40)
#define NUM_TINY 0x1p-1022 /* additional error of a result near or below the smallest normal */

typedef struct {
    double mid, rad;
} num;

/* Error by underflow: 0 for an exact zero, or a result far from underflow. */
REF_FN double num_underflow(double result, bool exact_zero)
{
    return fabs(result) < 0x1p-900 && !exact_zero ? NUM_TINY : 0;
}

REF_FN num num_make(double mid, double rad)
{
    num r;
    r.mid = mid;
    r.rad = rad;
    return r;
}

REF_FN num num_of(double x)
{
    return num_make(x, 0);
}

REF_FN double num_mid(num x)
{
    return x.mid;
}

REF_FN bool num_is_zero(num x)
{
    return x.mid == 0 && x.rad == 0;
}

/* The rounding error of a + b is representable as a double (Knuth's two-sum). */
REF_FN num num_add(num a, num b)
{
    const double s = a.mid + b.mid, bb = s - a.mid;
    const double e = (a.mid - (s - bb)) + (b.mid - bb);
    return num_make(s, (a.rad + b.rad + fabs(e)) * NUM_UP);
}

REF_FN num num_neg(num a)
{
    return num_make(-a.mid, a.rad);
}

REF_FN num num_sub(num a, num b)
{
    return num_add(a, num_neg(b));
}

/* The rounding error of a product is exactly fma(a, b, -p), unless it underflows. */
REF_FN num num_mul(num a, num b)
{
    const double p = a.mid * b.mid, e = fabs(fma(a.mid, b.mid, -p));
    const double rad = fabs(a.mid) * b.rad + fabs(b.mid) * a.rad + a.rad * b.rad;
    const bool zero = num_is_zero(a) || num_is_zero(b);
    const double tiny = !zero && a.rad + b.rad > 0 ? NUM_TINY : num_underflow(p, zero);
    return num_make(p, (rad + e) * NUM_UP + tiny);
}

/* a/b for |b.mid| > b.rad; otherwise the radius is infinite and the element stays open. */
REF_FN num num_div(num a, num b)
{
    const double q = a.mid / b.mid, least = fabs(b.mid) - b.rad;
    if (!(least > 0))
        return num_make(q, INFINITY);
    /* divides the radii first: |q| b.rad alone may underflow, and `least` may be small */
    const double rad = a.rad / least + fabs(q) * (b.rad / least);
    return num_make(q, (rad + fabs(q) * 2 * NUM_U) * NUM_UP + num_underflow(q, num_is_zero(a)));
}

/* The library's exp errs by less than 1 ulp in double (CUDA: 1 ulp); 2 are allowed. The argument's radius r
 * scales the result by at most e^r - 1 <= 2r for r <= 1. */
REF_FN num num_exp(num a)
{
    const double e = exp(a.mid);
    const double spread = a.rad <= 1 ? 2 * a.rad : INFINITY;
    return num_make(e, e * (spread + 4 * NUM_U) * NUM_UP + num_underflow(e, false));
}

REF_FN num num_sqrt(num a)
{
    const double r = sqrt(a.mid);
    const double spread = a.rad == 0 ? 0 : a.mid > 2 * a.rad ? a.rad / r : INFINITY;
    return num_make(r, (spread + r * NUM_U) * NUM_UP);
}

/* The library's log errs by less than 1 ulp in double (CUDA: 1 ulp); 2 are allowed. The argument's radius r
 * shifts the result by at most -log(1 - r/a) <= r / (a - r). For r >= a the element stays open. */
REF_FN num num_log(num a)
{
    const double l = log(a.mid), least = a.mid - a.rad;
    const double spread = a.rad == 0 ? 0 : least > 0 ? a.rad / least : INFINITY;
    return num_make(l, (spread + fabs(l) * 4 * NUM_U) * NUM_UP);
}

/* A sum in any order: |error| <= n u sum|p| (Jeannerod and Rump 2013), plus the terms' own radii. */
struct acc {
    double sum, magnitude, square, rad;
    double terms;
};

REF_FN struct acc acc_zero(void)
{
    struct acc a = {0, 0, 0, 0, 0};
    return a;
}

/* Adds a*b, where the product is exact in double (two formats of at most 26 significant bits each). */
REF_FN void acc_add_product(struct acc *s, double a, double b)
{
    const double p = a * b;
    s->sum += p;
    s->magnitude += fabs(p);
    s->square += p * p;
    s->terms += 1;
}

REF_FN void acc_add(struct acc *s, num x)
{
    s->sum += x.mid;
    s->magnitude += fabs(x.mid);
    s->square += x.mid * x.mid;
    s->rad += x.rad;
    s->terms += 1;
}

/* Adds x*v for an exact value v; the product's rounding adds one unit of the term. */
REF_FN void acc_add_scaled(struct acc *s, num x, double v)
{
    const double p = x.mid * v, size = fabs(p);
    s->sum += p;
    s->magnitude += size;
    s->square += p * p;
    s->rad += x.rad * fabs(v) + size * NUM_U;
    s->terms += 1;
}

/* Adds two sums. The count of terms already includes this addition. */
REF_FN void acc_merge(struct acc *into, const struct acc *from)
{
    into->sum += from->sum;
    into->magnitude += from->magnitude;
    into->square += from->square;
    into->rad += from->rad;
    into->terms += from->terms;
}

/* `unit`: every term is a multiple of it (0: unknown); then a small sum is exact. */
REF_FN num acc_num(const struct acc *s, double unit)
{
    double rad = 0;
    if (!(unit > 0 && s->magnitude < unit * 0x1p53))
        rad = (s->terms + 2) * NUM_U * s->magnitude;
    return num_make(s->sum, (rad + s->rad) * NUM_UP * (1 + (s->terms + 2) * 2 * NUM_U));
}

REF_FN struct sum_facts acc_facts(const struct acc *s, double unit)
{
    struct sum_facts f = {s->terms, s->sum, s->magnitude, s->square, unit};
    return f;
}

/* A midpoint without a radius, for states whose error is bounded as a whole (recurrence.h). */
typedef double real;

REF_FN real real_of(double x)
{
    return x;
}

REF_FN real real_scale(real x, num w)
{
    return x * w.mid;
}

REF_FN real real_add_product(real sum, real x, double v)
{
    return sum + x * v;
}

REF_FN real real_subtract(double v, real x)
{
    return v - x;
}

REF_FN double real_mid(real x)
{
    return x;
}

REF_FN num real_num(real x, double rad)
{
    return num_make(x, rad * NUM_UP);
}

#endif
