/* A limit of a contract: a comparison between expressions over number axes, rows*cols <= 2^31.
 *
 * Grammar, loosest first: comparison (exactly one of <= >= < > == !=), + -, * / %, unary -, ^ (to the
 * right), then integers, names of number axes and parentheses. Arithmetic is on 64-bit integers that
 * saturate, division rounds toward zero, and a limit that divides by zero, or raises to a negative
 * power, does not hold. */
#ifndef UNSEEN_LIMIT_H
#define UNSEEN_LIMIT_H

#include "space.h"

/* NULL when `text` is no limit; `why` then says what was found and what was expected. */
struct limit *limit_parse(const struct problem *problem, const char *text, char *why, size_t size);
/* The same for conditions (condition.h), which may name the problem's derived sizes, too: those are
 * drawn, and a contract says what may be drawn. */
struct limit *limit_parse_derived(const struct problem *problem, const char *text, char *why, size_t size);
void limit_free(struct limit *limit);

bool limit_mentions(const struct limit *limit, int axis);
bool limit_holds(const struct limit *limit, const struct config *config);

#endif
