/* Student's t distribution behind a C interface (Boost.Math evaluates it). */
#ifndef UNSEEN_STUDENT_H
#define UNSEEN_STUDENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The t that a variable of `df` degrees of freedom exceeds with probability `tail`; df any real above 0, also
 * infinite, tail in (0, 1). NaN outside of that. */
double student_quantile(double df, double tail);

/* The probability that a variable of `df` degrees of freedom exceeds t, which student_quantile inverts. */
double student_tail(double df, double t);

#ifdef __cplusplus
}
#endif

#endif
