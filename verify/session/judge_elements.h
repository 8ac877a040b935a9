/* Judges all elements of one output by their enclosures, which are computed, or kept from an earlier
 * judgement. */
#ifndef UNSEEN_JUDGE_ELEMENTS_H
#define UNSEEN_JUDGE_ELEMENTS_H

#include "judge.h"

/* Runs the problem's mathematics on the judge's device. Returns 0 or an error as in reference/judge.h. */
int judge_compute(const struct judge *judge, const struct judging *j, int k,
                  const struct judge_request *request, struct judge_report *report);

/* Judges all elements and, if the judging is thorough, chooses the elements for the witness to audit.
 * Enclosures that were audited before are not audited again: then judging->thorough is cleared. Returns 0
 * or an error. After 0 the caller asks the witness and then calls judge_elements_end. */
int judge_elements(struct judge *judge, struct judging *judging, int k, struct judge_request *request,
                   struct judge_report *report);
/* New enclosures are kept if the witness has contradicted none. */
void judge_elements_end(struct judge *judge, const struct judging *judging, bool heard);

#endif
