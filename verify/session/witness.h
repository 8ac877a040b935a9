/* Questions to MPFR about one judgement of a call. */
#ifndef UNSEEN_SESSION_WITNESS_H
#define UNSEEN_SESSION_WITNESS_H

#include "judge.h"

/* Does the witness of one element cost too much to audit several? */
bool witness_is_expensive(const struct judge *judge, int k, const struct judge_request *request);
/* Chooses the elements to audit: anywhere (near < 0), or if an element is expensive, in the row of the worst
 * one, which MPFR evaluates anyway. For a fold: the worst one over some of its terms. */
void witness_choose(const struct judge *judge, const struct judging *j, int k, int64_t near, int64_t elements,
                    struct judge_request *request);
/* Asks MPFR about the open elements of a report, the worst element and the samples. */
bool witness_hear(struct judge *judge, const struct judging *j, int k, struct judge_request *request,
                  struct judge_report *report, struct config_result *total, struct worst *worst);

#endif
