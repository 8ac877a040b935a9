/* A faster exponential for the witness: MPFR arithmetic around a table made by mpfr_exp. A long softmax
 * row is a million exponentials, and mpfr_exp itself takes about 2 us for each. */
#ifndef UNSEEN_WITNESS_EXP_H
#define UNSEEN_WITNESS_EXP_H

#include <mpfr.h>

/* The precision of the tables and of the arithmetic in between. */
enum { WITNESS_EXP_BITS = 128 };

/* out = exp(x), with a relative error below 2^-120 before it is rounded to out's precision, for
 * |x| <= 1024; mpfr_exp itself beyond, and for NaN and infinities. Safe to call from several threads. */
void witness_exp(mpfr_ptr out, mpfr_srcptr x);

#endif
