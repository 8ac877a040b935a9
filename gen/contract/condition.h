/* A condition on configurations: `k % 64 != 0 and input=special or n < 8`. Clauses are joined by `or`, the
 * terms of a clause by `and`. Terms are:
 * - a comparison of numeric axes as in a constraint (constraint.h), and of derived sizes (problem.h): `most_rows > 100`
 * - a power of two, or none: `pow2(group)`, `not pow2(group)`
 * - a comparison with greatest common divisors: `gcd(m, n) % 8 != 0`
 * - membership in a set: `page_size in {8, 24}`
 * - a choice: `axis=choice`, `axis!=choice`, `axis in {choice, choice}`
 * `any` always holds. */
#ifndef UNSEEN_CONDITION_H
#define UNSEEN_CONDITION_H

#include "space.h"

struct condition;

/* Returns NULL if `text` is no condition; `why` then says what was found and what was expected. */
struct condition *condition_parse(const struct problem *problem, const char *text, char *why, size_t size);
void condition_free(struct condition *condition);
bool condition_holds(const struct condition *condition, const struct config *config);

#endif
