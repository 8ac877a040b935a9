/* The terminal report: plain ASCII, wrapped at text_width() columns. Commands, configuration lines, paths and
 * the commitment are never wrapped, so that they can be copied. ANSI colours only if `colour`. */
#ifndef UNSEEN_TERMINAL_H
#define UNSEEN_TERMINAL_H

#include "reports/record/result.h"

/* "unseen 0.2.0: softmax" */
void terminal_title(FILE *out, const struct result *result, bool colour);
/* Printed before the candidate first runs: the title and the sets; with `verbose` also the commitment. */
void terminal_header(FILE *out, const struct result *result, bool colour, bool verbose);

/* A progress line, rewritten in place; only for a terminal. seconds_left below 0: not known yet. */
void terminal_progress(FILE *out, int done, int total, int failures, double seconds_left);
void terminal_status(FILE *out, const char *text); /* the same with another text */
void terminal_progress_clear(FILE *out);

/* Prints one line for one configuration (-v). */
void terminal_config(FILE *out, const struct config_result *config, bool colour);

/* The final report. By default one screen: the verdict, the rule in plain words, the smallest failure, both
 * sets, next steps. `verbose` adds a command for each shown failure, notes, phases of time, and the
 * environment of the run. */
void terminal_report(FILE *out, const struct result *result, bool colour, bool verbose);

/* The summary of one candidate among several: path, verdict, rule and smallest failure. */
void terminal_summary(FILE *out, const struct result *result, bool colour);

#endif
