/* Traces of FlashInfer-Bench: a JSON line for each configuration, with the evaluation in that benchmark's
 * words. A configuration that was not run is a workload alone. */
#ifndef UNSEEN_TRACE_H
#define UNSEEN_TRACE_H

#include <stdio.h>

#include "reports/record/result.h"

void trace_print(FILE *out, const struct result *const *results, int count);

#endif
