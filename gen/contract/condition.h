/* A condition on configurations: `k % 64 != 0 and input=special or n < 8`. Clauses joined by `or`, terms of a
 * clause by `and`; a term is a comparison of number axes as in a constraint (constraint.h) and of derived sizes
 * (`most_rows > 100`: problem.h), a power of two or none (`not pow2(group)`), with greatest common divisors
 * (`gcd(m, n) % 8 != 0`), one of a set or none of it (`page_size in {8, 24}`), or `axis=choice`, `axis!=choice`,
 * `axis in {choice, choice}`. `any` always holds. */
#ifndef UNSEEN_CONDITION_H
#define UNSEEN_CONDITION_H

#include "space.h"

struct condition;

/* NULL when `text` is none; `why` then says what was found and what was expected. */
struct condition *condition_parse(const struct problem *problem, const char *text, char *why, size_t size);
void condition_free(struct condition *condition);
bool condition_holds(const struct condition *condition, const struct config *config);

#endif
