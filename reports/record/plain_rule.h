/* The rule of a diagnosis as a paragraph for a first-time reader. */
#ifndef UNSEEN_PLAIN_RULE_H
#define UNSEEN_PLAIN_RULE_H

#include "summary.h"

/* "It is wrong when k % 64 != 0. Confirmed on fresh runs: 96 of 96 inside the rule fail, 104 of 104 outside
 * it pass." A rule for failures of several outcomes says "fails". Without a rule the text says so and why. It
 * is truncated if it does not fit. */
void plain_rule(char text[SUMMARY_SIZE], const struct result *result);
/* The same for one kind of failure among several: "7 x raised ValueError: when rows % 3 == 0 (8 of 8 ..)". */
void plain_rule_kind(char text[SUMMARY_SIZE], const struct result_kind *kind);
/* The predicate for an outcome: "is wrong", "crashes". */
const char *plain_outcome(enum outcome outcome);

#endif
