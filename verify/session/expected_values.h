/* Expected values of an imported task, from the process that evaluates its graph (verify/torch). */
#ifndef UNSEEN_EXPECTED_VALUES_H
#define UNSEEN_EXPECTED_VALUES_H

#include "judge.h"

/* Asks for the expected values of the call's inputs. False: there are none. If *missing, they cannot be
 * computed, and judge->answer.text says why; else see judge->status. Always true for problems with
 * mathematics of their own. */
bool expected_ask(struct judge *judge, const struct judging *judging, bool *missing);
/* A candidate of a task has refused or ended. If the task's own model does not run there either, nothing is
 * judged: the contract is too wide, as it was derived from some sizes only. False: the status says why. */
bool expected_excuse(struct judge *judge, const struct judging *judging, struct call_result *result);
/* May a candidate be asked for both configurations in one process? If the task's own model refuses the pair,
 * or answers differently than for `after` alone, the pair is not part of its contract. False also if this is
 * unknown, or the status says why. */
bool expected_admits(struct judge *judge, const struct config *before, const struct config *after);
/* Puts the expected values into a judgement's request. */
void expected_request(const struct judge *judge, struct judge_request *request);
/* Before an output is called wrong, evaluates its worst element in MPFR, if the task's operations support it.
 * If that element is right, the output passes. False: both evaluations contradict each other, so no verdict
 * is possible. */
bool expected_confirm(struct judge *judge, const struct judging *judging, int k, struct judge_report *report,
                      struct config_result *total, struct worst *worst);
/* Adds the quality of the expected values. */
void expected_add_quality(const struct judge *judge, struct oracle_quality *told);

#endif
