/* What people read: plain ASCII within text_width() columns (commands, configuration lines, paths and the commitment are
 * never broken, so that they can be copied), ANSI colours only where `colour` says so. */
#ifndef UNSEEN_TERMINAL_H
#define UNSEEN_TERMINAL_H

#include "result.h"

/* "unseen 0.2.0: softmax" */
void terminal_title(FILE *out, const struct result *result, bool colour);
/* Printed before the candidate first runs: the title and the sets; with `verbose` the commitment, too. */
void terminal_header(FILE *out, const struct result *result, bool colour, bool verbose);

/* One line, rewritten in place; only for a terminal. seconds_left below 0: not known yet. */
void terminal_progress(FILE *out, int done, int total, int failures, double seconds_left);
void terminal_status(FILE *out, const char *text); /* the same with other words */
void terminal_progress_clear(FILE *out);

/* One line for one configuration (-v). */
void terminal_config(FILE *out, const struct config_result *config, bool colour);

/* The final report. By default one screen: the verdict, the rule in plain words, the smallest failure, both sets, what to
 * do next. With `verbose` all there is: a line to paste for each failure shown, notes, where the time went, and what was
 * judged on what. */
void terminal_report(FILE *out, const struct result *result, bool colour, bool verbose);

/* Of one candidate among several: its path, the verdict, the rule and the smallest failure. */
void terminal_summary(FILE *out, const struct result *result, bool colour);

#endif
