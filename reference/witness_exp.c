#include "witness_exp.h"

#include <math.h>
#include <pthread.h>

/* x = whole + (fine + r) / STEPS with |r| <= 1/2: exp(x) = exp(whole) exp(fine/STEPS) exp(r/STEPS). |r/STEPS|
 * <= 2^-13, so the Taylor series of the last factor errs by less than 2^(-13 (TERMS + 1)) / (TERMS + 1)!. For
 * TERMS = 8 that is 2^-117 / 9!. Each of about 20 roundings adds 2^-128. */
enum { WHOLE = 1025, STEPS = 4096, TERMS = 8 };

static mpfr_t whole_table[2 * WHOLE + 1], fine_table[STEPS + 1], inverse_factorial[TERMS + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    mpfr_t x;
    mpfr_init2(x, WITNESS_EXP_BITS);
    for (int i = -WHOLE; i <= WHOLE; i++) {
        mpfr_init2(whole_table[i + WHOLE], WITNESS_EXP_BITS);
        mpfr_set_si(x, i, MPFR_RNDN);
        mpfr_exp(whole_table[i + WHOLE], x, MPFR_RNDN);
    }
    for (int i = 0; i <= STEPS; i++) {
        mpfr_init2(fine_table[i], WITNESS_EXP_BITS);
        mpfr_set_d(x, (double)i / STEPS, MPFR_RNDN);
        mpfr_exp(fine_table[i], x, MPFR_RNDN);
    }
    for (int i = 0; i <= TERMS; i++) {
        mpfr_init2(inverse_factorial[i], WITNESS_EXP_BITS);
        mpfr_fac_ui(x, (unsigned long)i, MPFR_RNDN);
        mpfr_ui_div(inverse_factorial[i], 1, x, MPFR_RNDN);
    }
    mpfr_clear(x);
    /* frees the constants of this thread, which may end long before the process */
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* Taylor series by Horner's rule, for small r. */
static void series(mpfr_ptr out, mpfr_srcptr r)
{
    mpfr_set(out, inverse_factorial[TERMS], MPFR_RNDN);
    for (int i = TERMS - 1; i >= 0; i--) {
        mpfr_mul(out, out, r, MPFR_RNDN);
        mpfr_add(out, out, inverse_factorial[i], MPFR_RNDN);
    }
}

void witness_exp(mpfr_ptr out, mpfr_srcptr x)
{
    mp_limb_t limbs[2][(WITNESS_EXP_BITS + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS];
    mpfr_t r, sum;
    const double nearby = mpfr_get_d(x, MPFR_RNDN);
    if (!(fabs(nearby) <= 1024)) {
        mpfr_exp(out, x, MPFR_RNDN);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
        return;
    }
    pthread_once(&once, make_tables);
    const int whole = (int)floor(nearby), fine = (int)rint((nearby - floor(nearby)) * STEPS);
    mpfr_custom_init_set(r, MPFR_ZERO_KIND, 0, WITNESS_EXP_BITS, limbs[0]);
    mpfr_custom_init_set(sum, MPFR_ZERO_KIND, 0, WITNESS_EXP_BITS, limbs[1]);
    /* exact: the subtrahend is a multiple of x's last place */
    mpfr_sub_d(r, x, whole + (double)fine / STEPS, MPFR_RNDN);
    series(sum, r);
    mpfr_mul(sum, sum, whole_table[whole + WHOLE], MPFR_RNDN);
    mpfr_mul(out, sum, fine_table[fine], MPFR_RNDN);
}
