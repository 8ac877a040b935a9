/* A SARIF 2.1.0 log (OASIS), for code scanning: a run for each candidate, a result for each failing
 * configuration. */
#ifndef UNSEEN_SARIF_H
#define UNSEEN_SARIF_H

#include <stdio.h>

#include "reports/record/result.h"

/* Writes one log with `count` runs. The rule of a result is its outcome, or the kind of a finding; its place
 * is the candidate's file; its message ends with the command that runs the configuration again. Nothing is
 * written where memory is out. */
void sarif_print(FILE *out, const struct result *const *results, int count);

#endif
