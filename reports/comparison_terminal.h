/* What people read of a comparison: as terminal.h says. */
#ifndef UNSEEN_COMPARISON_TERMINAL_H
#define UNSEEN_COMPARISON_TERMINAL_H

#include "comparison.h"

/* What is held against what; printed before anything runs. */
void comparison_header(FILE *out, const struct comparison *comparison);

/* The gate and its reason, the rule, a line for each configuration that is not the same (`all`: also those that are), and the
 * summary. */
void comparison_report(FILE *out, const struct comparison *comparison, bool all, bool colour);

/* Its one line: "regression: 3 configurations slower". */
void comparison_verdict(FILE *out, const struct comparison *comparison, bool colour);

#endif
