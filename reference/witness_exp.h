/* A faster exponential for the witness: MPFR arithmetic with tables made by mpfr_exp. A long softmax row
 * needs a million exponentials, and mpfr_exp takes about 2 us each. */
#ifndef UNSEEN_WITNESS_EXP_H
#define UNSEEN_WITNESS_EXP_H

#include <mpfr.h>

/* Precision of the tables and of intermediate results. */
enum { WITNESS_EXP_BITS = 128 };

/* Computes out = exp(x) for |x| <= 1024, with a relative error below 2^-120 before rounding to out's
 * precision. Calls mpfr_exp for larger |x|, NaN and infinities. Thread-safe. */
void witness_exp(mpfr_ptr out, mpfr_srcptr x);

#endif
