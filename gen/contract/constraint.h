/* A constraint of a contract: a comparison between expressions over number axes, rows*cols <= 2^31.
 *
 * Grammar, loosest first: comparison (exactly one of <= >= < > == !=), + -, * / %, unary -, ^ (to the
 * right), then integers, names of number axes and parentheses. Arithmetic is on 64-bit integers that
 * saturate, division rounds toward zero, and a constraint that divides by zero, or raises to a negative
 * power, does not hold. */
#ifndef UNSEEN_CONSTRAINT_H
#define UNSEEN_CONSTRAINT_H

#include "space.h"

/* NULL when `text` is no constraint; `why` then says what was found and what was expected. */
struct constraint *constraint_parse(const struct problem *problem, const char *text, char *why, size_t size);
/* A term of a condition (condition.h): it may name the problem's derived sizes, too, which are drawn, while a
 * contract says what may be drawn; and the words of rules: pow2(group), not pow2(group), gcd(m, n) % 8 != 0,
 * page_size in {8, 24}, page_size not in {8, 24}. */
struct constraint *constraint_parse_derived(const struct problem *problem, const char *text, char *why,
                                            size_t size);
void constraint_free(struct constraint *constraint);

bool constraint_mentions(const struct constraint *constraint, int axis);
bool constraint_holds(const struct constraint *constraint, const struct config *config);

/* The same over a box: axis i takes the values low[i]..high[i]. Interval arithmetic decides, so that `may hold` says nothing;
 * of a box of one point ask constraint_holds. */
enum constraint_bound { CONSTRAINT_FAILS, CONSTRAINT_MAY_HOLD, CONSTRAINT_HOLDS };
enum constraint_bound constraint_over(const struct constraint *constraint, const int64_t *low,
                                      const int64_t *high);

/* An expression alone, such as an extent of an imported task: the same grammar without the comparison. */
struct constraint *expression_parse(const struct problem *problem, const char *text, char *why, size_t size);
/* False where it divides by zero or raises to a negative power. */
bool expression_value(const struct constraint *expression, const struct config *config, int64_t *value);

#endif
