/* Searches for hypotheses that fit the evidence. */
#ifndef UNSEEN_RULE_SEARCH_H
#define UNSEEN_RULE_SEARCH_H

#include "evidence.h"
#include "problems/rule.h"

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

#endif
