/* Judging by values that are given: judge_request's `want` and `allowed`. */
#ifndef UNSEEN_GIVEN_H
#define UNSEEN_GIVEN_H

#include "judge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All that the request points at is in the host's memory. Returns 0. */
int given_judge_host(const struct judge_request *request, struct judge_report *report);

/* `got`, `expected` and `wrong` are the device's: what came back is copied to the host and judged there. Returns 0, -1 when
 * the host is out of memory, or a cudaError_t. */
int given_judge_cuda(const struct judge_request *request, struct judge_report *report);

#ifdef __cplusplus
}
#endif

#endif
