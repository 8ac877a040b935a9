/* Judging by precomputed values: `want` and `allowed` of a judge_request. */
#ifndef UNSEEN_PRECOMPUTED_H
#define UNSEEN_PRECOMPUTED_H

#include "judge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers of the request are to host memory. Returns 0. */
int precomputed_judge_host(const struct judge_request *request, struct judge_report *report);

/* `got`, `expected` and `wrong` are in device memory; the output is copied to the host and judged there.
 * Returns 0, -1 when the host is out of memory, or a cudaError_t. */
int precomputed_judge_cuda(const struct judge_request *request, struct judge_report *report);

#ifdef __cplusplus
}
#endif

#endif
