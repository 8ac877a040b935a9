/* Searches for hypotheses that fit the evidence, and what the evidence says about their terms. */
#ifndef UNSEEN_RULE_SEARCH_H
#define UNSEEN_RULE_SEARCH_H

#include "evidence.h"
#include "problems/rule.h"

/* --- search.c, one_sided_search.c, rivals.c --- */

/* Finds rules that are right on every trial or, if there are none, on most; the simplest come first. Returns
 * the number of trials that the first one gets wrong. Published points that pass do not count if a rule was
 * found only without them. Returns -1 when memory is out. */
int search_rules(const struct evidence *evidence, struct hypotheses *out);

/* Finds conditions that are right on one side only, which `kind` names. The first one gives the shortest
 * description of the outcomes; `cost` is its length in bits, and *gain is how many bits it saves compared
 * with no condition. Returns 0, or -1 when memory is out. */
int search_one_sided(const struct evidence *evidence, enum rule_kind kind, struct hypotheses *out,
                     double *gain);
/* Finds the predicate that best separates failures from passes among the trials inside `rule`, and the bits
 * that it saves. Returns false if none is worth reporting. */
bool search_inner(const struct evidence *evidence, const struct hypothesis *rule, struct hypothesis *out,
                  double *gain);

/* Finds simpler rules than `leader` that hold on every failure and on few passes, the simplest first. Returns
 * 0, or -1 when memory is out. */
int search_rivals(const struct evidence *evidence, const struct hypothesis *leader, struct hypotheses *out);

/* --- terms.c --- */

/* Returns the term that the fewest runs support, if they are too few, or -1. A rule of one term has none.
 * *inside says that supporting runs would be failures where the rule holds. */
int weakest_term(const struct evidence *evidence, const struct hypothesis *rule, bool *inside);
/* Drops such terms until there is none left, and returns how many were dropped. */
int drop_weak_terms(const struct evidence *evidence, struct hypothesis *rule);

/* Adds the rule with each threshold at the roundest, the least, the middle and the largest value that the
 * trials permit. With `forgive`, published points that pass do not restrict thresholds. Adds nothing if some
 * threshold has no effect. */
void add_threshold_variants(const struct evidence *evidence, const struct hypothesis *rule, bool forgive,
                            struct hypotheses *out);
/* Returns whether passes just beyond the threshold are evidence for it. Nothing may fail there, and enough
 * must fail on the near side to rule out chance. If larger configurations are likelier to fail, the rate near
 * the threshold is corrected for that. Returns true for terms that are no thresholds. */
bool threshold_is_sharp(const struct evidence *evidence, const struct hypothesis *rule, int term);

#endif
