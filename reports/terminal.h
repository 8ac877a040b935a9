/* What people read: plain ASCII within text_width() columns (commands, configuration lines, paths and the commitment are
 * never broken, so that they can be copied), ANSI colours only where `colour` says so. */
#ifndef UNSEEN_TERMINAL_H
#define UNSEEN_TERMINAL_H

#include "result.h"

/* "unseen 0.2.0: softmax" */
void terminal_title(FILE *out, const struct result *result, bool colour);
/* Printed before the candidate first runs: the title, the sets and the commitment. */
void terminal_header(FILE *out, const struct result *result, bool colour);

/* One line, rewritten in place; only for a terminal. seconds_left below 0: not known yet. */
void terminal_progress(FILE *out, int done, int total, int failures, double seconds_left);
void terminal_status(FILE *out, const char *text); /* the same with other words */
void terminal_progress_clear(FILE *out);

/* One line for one configuration (-v). */
void terminal_config(FILE *out, const struct config_result *config, bool colour);

/* The final report: the verdict, the rule and the simplest failure, counts, a line to paste for each failure, and last what
 * was judged on what. `phases` adds where the time went. */
void terminal_report(FILE *out, const struct result *result, bool colour, bool phases);

#endif
