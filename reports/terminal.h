/* What people read: plain ASCII within 96 columns (commands and configuration lines are never broken, so
 * that they can be copied), ANSI colours only where `colour` says so. */
#ifndef UNSEEN_TERMINAL_H
#define UNSEEN_TERMINAL_H

#include "result.h"

/* Printed before the candidate first runs: what is judged, on what, and the commitment. */
void terminal_header(FILE *out, const struct result *result, bool colour);

/* One line, rewritten in place; only for a terminal. seconds_left below 0: not known yet. */
void terminal_progress(FILE *out, int done, int total, int failures, double seconds_left);
void terminal_progress_clear(FILE *out);

/* One line for one configuration (-v). */
void terminal_config(FILE *out, const struct config_result *config, bool colour);

/* The final report. `repro_suffix` is appended to every reproduction command ("--device host"; NULL:
 * nothing); `phases` adds where the time went. */
void terminal_report(FILE *out, const struct result *result, bool colour, bool phases,
                     const char *repro_suffix);

#endif
