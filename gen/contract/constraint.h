/* A constraint of a contract: a comparison of expressions over numeric axes, such as rows*cols <= 2^31.
 *
 * Grammar, lowest precedence first: comparison (exactly one of <= >= < > == !=), + -, * / %, unary -,
 * ^ (right-associative), then integers, names of numeric axes and parentheses. Arithmetic is on 64-bit
 * integers that saturate; division rounds toward zero. A constraint that divides by zero, or raises to a
 * negative power, does not hold. */
#ifndef UNSEEN_CONSTRAINT_H
#define UNSEEN_CONSTRAINT_H

#include "space.h"

/* Returns NULL if `text` is no constraint; `why` then says what was found and what was expected. */
struct constraint *constraint_parse(const struct problem *problem, const char *text, char *why, size_t size);
/* Parses a term of a condition (condition.h). It may also name the problem's derived sizes, which a contract
 * may not, since they are drawn. It also allows the functions of rules: pow2(group), not pow2(group), gcd(m,
 * n) % 8 != 0, page_size in {8, 24}, page_size not in {8, 24}. */
struct constraint *constraint_parse_derived(const struct problem *problem, const char *text, char *why,
                                            size_t size);
void constraint_free(struct constraint *constraint);

bool constraint_mentions(const struct constraint *constraint, int axis);
/* The same for a derived size, by its index. Axes on which that size depends do not count as mentioned. */
bool constraint_mentions_derived(const struct constraint *constraint, int derived);
bool constraint_holds(const struct constraint *constraint, const struct config *config);

/* Evaluates a constraint over a box, where axis i takes the values low[i]..high[i]. It uses interval
 * arithmetic, so CONSTRAINT_MAY_HOLD is inconclusive. For a single point call constraint_holds. */
enum constraint_bound { CONSTRAINT_FAILS, CONSTRAINT_MAY_HOLD, CONSTRAINT_HOLDS };
enum constraint_bound constraint_over(const struct constraint *constraint, const int64_t *low,
                                      const int64_t *high);

/* Parses an expression without a comparison, such as an extent of an imported task; the same grammar
 * otherwise. */
struct constraint *expression_parse(const struct problem *problem, const char *text, char *why, size_t size);
/* The same; it may also name derived sizes. */
struct constraint *expression_parse_derived(const struct problem *problem, const char *text, char *why,
                                            size_t size);
/* Returns whether the axis, or a derived size that depends on it, occurs in the expression. */
bool expression_depends_on(const struct constraint *expression, const struct problem *problem, int axis);
/* "A % 64" is A with *number 64, and "3 * A" is A with *number 3. Return NULL if the expression has
 * another form, or if memory is out. */
struct constraint *expression_before_remainder(const struct constraint *expression, int64_t *number);
struct constraint *expression_after_factor(const struct constraint *expression, int64_t *number);
/* Returns false on division by zero or a negative power. */
bool expression_value(const struct constraint *expression, const struct config *config, int64_t *value);

#endif
