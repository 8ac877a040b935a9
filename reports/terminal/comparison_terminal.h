/* Terminal report of a comparison, under the rules of terminal.h. */
#ifndef UNSEEN_COMPARISON_TERMINAL_H
#define UNSEEN_COMPARISON_TERMINAL_H

#include "reports/record/comparison.h"

/* Prints the two compared sides; called before anything runs. */
void comparison_header(FILE *out, const struct comparison *comparison);

/* Prints the gate with its reason, the rule, a line for each changed configuration (with `all`, for every
 * configuration), and the summary. */
void comparison_report(FILE *out, const struct comparison *comparison, bool all, bool colour);

/* Prints one line: "regression: 3 configurations slower". */
void comparison_verdict(FILE *out, const struct comparison *comparison, bool colour);

#endif
