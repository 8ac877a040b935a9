/* Parts of the terminal report; terminal.c puts them together. */
#ifndef UNSEEN_TERMINAL_INTERNAL_H
#define UNSEEN_TERMINAL_INTERNAL_H

#include "reports/record/result.h"

enum { TERMINAL_LABEL = 14 }; /* column of the text after a label */

/* Escape codes, or "" without colour. */
const char *terminal_paint(enum paint paint, bool colour);
const char *terminal_plain(bool colour);

/* Prints " label ", padded to TERMINAL_LABEL. */
void terminal_label(FILE *out, const char *label);
/* Prints a label and wrapped text. */
void terminal_line(FILE *out, const char *label, const char *text);

/* Prints at most `most` findings, a line each, and the option that lists the others. */
void terminal_findings(FILE *out, const struct result *result, int most, const char *elsewhere);
/* Prints the libraries that --forbid names, if the candidate uses none of them. */
void terminal_forbid(FILE *out, const struct result *result);
/* Prints the verdict in one sentence; for a run that was cut off, how far it came; and another check's
 * verdict. */
void terminal_verdict(FILE *out, const struct result *result, bool colour);
/* The default report, and its last part, the next steps. */
void terminal_brief(FILE *out, const struct result *result, bool colour);
void terminal_next(FILE *out, const struct result *result);
/* The rule, the simplest failing configuration and its wrong elements; nothing without a diagnosis. */
void terminal_diagnosis(FILE *out, const struct result *result, bool colour);
/* The command that runs a configuration again, on one line. */
void terminal_command(FILE *out, const struct result *result, const struct config_result *config);
/* The input values that make it fail, and the command that shows it. */
void terminal_values(FILE *out, const struct result *result, const char *text);
/* Counts and scores of both sets, drop and retention. The brief table omits figures and gives the reason for
 * a missing score. */
void terminal_table(FILE *out, const struct result *result);
void terminal_table_brief(FILE *out, const struct result *result);
/* Failures grouped by outcome, each with a command and its finding; then skipped configurations. */
void terminal_failures(FILE *out, const struct result *result, bool colour);
void terminal_skipped(FILE *out, const struct result *result);

#endif
