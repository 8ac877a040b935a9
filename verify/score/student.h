/* Student's t distribution behind a C interface (Boost.Math evaluates it). */
#ifndef UNSEEN_STUDENT_H
#define UNSEEN_STUDENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The t that a variable with `df` degrees of freedom exceeds with probability `tail`. df is any real above 0,
 * or infinite; tail is in (0, 1). NaN outside of that. */
double student_quantile(double df, double tail);

/* The probability that a variable with `df` degrees of freedom exceeds t; the inverse of student_quantile. */
double student_tail(double df, double t);

#ifdef __cplusplus
}
#endif

#endif
