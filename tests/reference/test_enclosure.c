/* The operations of an enclosure against MPFR. For all exact operands in the intervals, the exact result lies
 * in the result's interval. */
#include <check.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#define REF_FN static inline __attribute__((unused))
#include "reference/num_enclosure.h"

#include "gen/random/pcg.h"
#include "reference/witness_exp.h"

TCase *enclosure_case(void);

enum { BITS = 2400 }; /* exact sums and products of any doubles */

static struct pcg *pcg;

static double signed_unit(void)
{
    return 2 * pcg_unit(pcg) - 1;
}

/* Any size; now and then zero, a power of two, an integer, or subnormal. */
static double any_double(int exponents)
{
    const int e = (int)pcg_below(pcg, (uint64_t)(2 * exponents + 1)) - exponents;
    switch (pcg_below(pcg, 12)) {
    case 0: return 0;
    case 1: return ldexp(pcg_below(pcg, 2) ? 1 : -1, e);
    case 2: return (double)pcg_below(pcg, 2000) - 1000;
    case 3: return exponents > 900 ? ldexp(signed_unit(), -1050) : signed_unit();
    default: return ldexp(signed_unit(), e);
    }
}

/* An interval, and in `exact` a point of it: an end, the middle, or anything between. */
static num any_number(int exponents, mpfr_t exact)
{
    static const double part[] = {-1, -1, 0, 1, 1};
    const double mid = any_double(exponents);
    const double other = fabs(any_double(exponents));
    const double sizes[] = {0, 0, fabs(mid) * 0x1p-50, fabs(mid) * 1e-3, other};
    const double rad = sizes[pcg_below(pcg, 5)];
    const uint64_t choice = pcg_below(pcg, 6);
    mpfr_set_d(exact, rad, MPFR_RNDN);
    mpfr_mul_d(exact, exact, choice < 5 ? part[choice] : signed_unit(), MPFR_RNDN);
    mpfr_add_d(exact, exact, mid, MPFR_RNDN);
    return num_make(mid, rad);
}

static void expect_holds(num x, mpfr_t exact, const char *operation)
{
    mpfr_t distance;
    if (!isfinite(x.mid) || !mpfr_number_p(exact))
        return; /* overflow is no enclosure, and the judge does not accept it as one */
    mpfr_init2(distance, BITS);
    mpfr_sub_d(distance, exact, x.mid, MPFR_RNDN);
    mpfr_abs(distance, distance, MPFR_RNDN);
    ck_assert_msg(mpfr_cmp_d(distance, x.rad) <= 0, "%s: %a +- %a, %g away", operation, x.mid, x.rad,
                  mpfr_get_d(distance, MPFR_RNDU));
    mpfr_clear(distance);
}

static void try_binary(int exponents)
{
    mpfr_t a, b, r;
    mpfr_inits2(BITS, a, b, r, (mpfr_ptr)0);
    const num x = any_number(exponents, a);
    num y = any_number(exponents, b);
    if (pcg_below(pcg, 4) == 0) { /* nearly cancelling operands */
        y = num_make(-x.mid * (1 + 0x1p-30), fabs(x.mid) * 0x1p-31);
        mpfr_set_d(b, y.mid, MPFR_RNDN);
    }
    mpfr_add(r, a, b, MPFR_RNDN);
    expect_holds(num_add(x, y), r, "add");
    mpfr_sub(r, a, b, MPFR_RNDN);
    expect_holds(num_sub(x, y), r, "sub");
    mpfr_mul(r, a, b, MPFR_RNDN);
    expect_holds(num_mul(x, y), r, "mul");
    mpfr_div(r, a, b, MPFR_RNDN);
    expect_holds(num_div(x, y), r, "div");
    expect_holds(num_neg(x), (mpfr_neg(a, a, MPFR_RNDN), a), "neg");
    mpfr_clears(a, b, r, (mpfr_ptr)0);
}

START_TEST(sums_products_and_quotients_hold_the_exact_result)
{
    pcg = pcg_new(31, "test/enclosure");
    for (int i = 0; i < 30000; i++)
        try_binary(i % 3 == 0 ? 1000 : i % 3 == 1 ? 300 : 20);
    pcg_free(pcg);
}
END_TEST

START_TEST(exponentials_logarithms_and_roots_hold_the_exact_result)
{
    mpfr_t a, r;
    mpfr_init2(a, BITS);
    mpfr_init2(r, 200);
    pcg = pcg_new(32, "test/enclosure");
    for (int i = 0; i < 20000; i++) {
        num x = any_number(10, a);
        mpfr_exp(r, a, MPFR_RNDN);
        expect_holds(num_exp(x), r, "exp");
        mpfr_sqrt(r, a, MPFR_RNDN); /* NaN below 0, where the enclosure claims nothing */
        expect_holds(num_sqrt(x), r, "sqrt");
        x = any_number(i % 2 ? 1000 : 4, a);
        mpfr_log(r, a, MPFR_RNDN); /* the same */
        expect_holds(num_log(x), r, "log");
    }
    for (int i = -2000; i <= 2000; i++) { /* around 1, where results are near 0 */
        const double x = 1 + ldexp(i, i % 2 ? -52 : -20);
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_log(r, a, MPFR_RNDN);
        expect_holds(num_log(num_of(x)), r, "log");
    }
    for (double x = -760; x < -690; x += 0.03125) { /* where results become subnormal, then zero */
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_exp(r, a, MPFR_RNDN);
        expect_holds(num_exp(num_of(x)), r, "exp");
    }
    pcg_free(pcg);
    mpfr_clears(a, r, (mpfr_ptr)0);
}
END_TEST

/* Terms with radii, terms that cancel, and a largest term that swallows the others. */
START_TEST(sums_of_many_terms_hold_the_exact_result)
{
    mpfr_t a, exact, scaled;
    mpfr_inits2(BITS, a, exact, scaled, (mpfr_ptr)0);
    pcg = pcg_new(33, "test/enclosure");
    for (int round = 0; round < 600; round++) {
        struct acc sum = acc_zero();
        const int terms = 1 + (int)pcg_below(pcg, 60), spread = round % 2 ? 60 : 4;
        mpfr_set_zero(exact, 1);
        for (int i = 0; i < terms; i++) {
            const num x = any_number(spread, a);
            const double v = ldexp((double)pcg_below(pcg, 255) - 127, (int)pcg_below(pcg, 20) - 10);
            acc_add(&sum, x);
            mpfr_add(exact, exact, a, MPFR_RNDN);
            acc_add_scaled(&sum, x, v);
            mpfr_mul_d(scaled, a, v, MPFR_RNDN);
            mpfr_add(exact, exact, scaled, MPFR_RNDN);
            if (i % 3 == 0) { /* and take the middle away again */
                acc_add(&sum, num_of(-x.mid));
                mpfr_sub_d(exact, exact, x.mid, MPFR_RNDN);
            }
        }
        expect_holds(acc_num(&sum, 0), exact, "acc");
    }
    pcg_free(pcg);
    mpfr_clears(a, exact, scaled, (mpfr_ptr)0);
}
END_TEST

/* 2^26 short products could still be exact; a unit says so, and then the radius is zero. */
START_TEST(a_small_sum_of_multiples_of_a_unit_is_exact)
{
    struct acc sum = acc_zero();
    int64_t exact = 0; /* in units of 2^-18 */
    pcg = pcg_new(34, "test/enclosure");
    for (int i = 0; i < 5000; i++) {
        const int64_t a = (int64_t)pcg_below(pcg, 458753) - 229376;
        const int64_t b = (int64_t)pcg_below(pcg, 458753) - 229376;
        acc_add_product(&sum, ldexp((double)a, -9), ldexp((double)b, -9));
        exact += a * b;
    }
    ck_assert(acc_num(&sum, 0x1p-18).rad == 0);
    ck_assert(acc_num(&sum, 0x1p-18).mid == ldexp((double)exact, -18));
    ck_assert(acc_num(&sum, 0).rad > 0);
    ck_assert(acc_facts(&sum, 1).terms == 5000 && acc_facts(&sum, 1).unit == 1);
    ck_assert(acc_num(&sum, 0x1p-40).rad > 0); /* too large for so small a unit */
    pcg_free(pcg);
}
END_TEST

START_TEST(exact_zeros_have_no_radius)
{
    const num zero = num_of(0), x = num_of(3.7);
    struct acc nothing = acc_zero();
    ck_assert(num_add(zero, zero).rad == 0 && num_sub(x, x).mid == 0 && num_sub(x, x).rad == 0);
    ck_assert(num_mul(zero, x).rad == 0 && num_div(zero, x).rad == 0 && num_sqrt(zero).rad == 0);
    ck_assert(num_log(num_of(1)).mid == 0 && num_log(num_of(1)).rad == 0);
    acc_add_product(&nothing, 0, 5);
    ck_assert(acc_num(&nothing, 0).mid == 0 && acc_num(&nothing, 0).rad == 0);
}
END_TEST

START_TEST(a_divisor_or_root_around_zero_leaves_the_element_open)
{
    ck_assert(isinf(num_div(num_of(1), num_make(0.5, 0.5)).rad));
    ck_assert(isinf(num_div(num_of(1), num_make(0.5, NAN)).rad));
    ck_assert(isinf(num_sqrt(num_make(0.5, 0.5)).rad));
    ck_assert(isinf(num_exp(num_make(0, 2)).rad));
    ck_assert(isinf(num_log(num_make(0.5, 0.5)).rad) && isinf(num_log(num_make(0.5, 1)).rad));
}
END_TEST

START_TEST(nan_and_infinity_travel_in_the_midpoint)
{
    const num nan = num_of(NAN), inf = num_of(INFINITY), one = num_of(1);
    struct acc sum = acc_zero();
    ck_assert(isnan(num_add(nan, one).mid) && isnan(num_mul(one, nan).mid));
    ck_assert(isnan(num_div(nan, one).mid) && isnan(num_exp(nan).mid) && isnan(num_sqrt(nan).mid));
    ck_assert(num_add(inf, one).mid == INFINITY && isnan(num_sub(inf, inf).mid));
    ck_assert(num_exp(num_of(-INFINITY)).mid == 0 && num_exp(inf).mid == INFINITY);
    ck_assert(isnan(num_mul(inf, num_of(0)).mid) && num_div(one, inf).mid == 0);
    ck_assert(isnan(num_sqrt(num_of(-1)).mid) && isnan(num_log(num_of(-1)).mid));
    ck_assert(num_log(num_of(0)).mid == -INFINITY && num_log(inf).mid == INFINITY);
    acc_add_product(&sum, INFINITY, -1);
    ck_assert(acc_num(&sum, 0).mid == -INFINITY);
    acc_add_product(&sum, INFINITY, 1);
    ck_assert(isnan(acc_num(&sum, 0).mid));
}
END_TEST

/* --- the witness's own exponential --- */

START_TEST(the_witness_exponential_is_mpfr_exp)
{
    static const double reach[] = {1024, 30, 1, 0.01, 1e-9, 2000};
    struct pcg *pcg = pcg_new(5, "test/exp");
    mpfr_t x, fast, slow;
    mpfr_inits2(200, fast, slow, (mpfr_ptr)0);
    mpfr_init2(x, 128);
    for (int i = 0; i < 6000; i++) {
        mpfr_set_d(x, (2 * pcg_unit(pcg) - 1) * reach[i % 6], MPFR_RNDN);
        if (i % 2)
            mpfr_add_d(x, x, 1e-25 * pcg_unit(pcg), MPFR_RNDN);
        witness_exp(fast, x);
        mpfr_exp(slow, x, MPFR_RNDN);
        mpfr_sub(fast, fast, slow, MPFR_RNDN);
        mpfr_div(fast, fast, slow, MPFR_RNDN);
        ck_assert(mpfr_zero_p(fast) || mpfr_get_exp(fast) < -119);
    }
    mpfr_set_nan(x);
    witness_exp(fast, x);
    ck_assert(mpfr_nan_p(fast));
    mpfr_set_inf(x, -1);
    witness_exp(fast, x);
    ck_assert(mpfr_zero_p(fast));
    mpfr_set_zero(x, 1);
    witness_exp(fast, x);
    ck_assert(mpfr_cmp_ui(fast, 1) == 0);
    mpfr_clears(x, fast, slow, (mpfr_ptr)0);
    pcg_free(pcg);
}
END_TEST

TCase *enclosure_case(void)
{
    TCase *operations = tcase_create("operations");
    tcase_add_test(operations, the_witness_exponential_is_mpfr_exp);
    tcase_add_test(operations, sums_products_and_quotients_hold_the_exact_result);
    tcase_add_test(operations, exponentials_logarithms_and_roots_hold_the_exact_result);
    tcase_add_test(operations, sums_of_many_terms_hold_the_exact_result);
    tcase_add_test(operations, a_small_sum_of_multiples_of_a_unit_is_exact);
    tcase_add_test(operations, exact_zeros_have_no_radius);
    tcase_add_test(operations, a_divisor_or_root_around_zero_leaves_the_element_open);
    tcase_add_test(operations, nan_and_infinity_travel_in_the_midpoint);
    tcase_set_timeout(operations, 60);
    return operations;
}
