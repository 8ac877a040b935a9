/* Parts of the terminal report; terminal.c puts them together. */
#ifndef UNSEEN_TERMINAL_INTERNAL_H
#define UNSEEN_TERMINAL_INTERNAL_H

#include "result.h"

enum { TERMINAL_LABEL = 14 }; /* column where the text after a label starts */

/* The escape codes, or "" without colour. */
const char *terminal_paint(enum paint paint, bool colour);
const char *terminal_plain(bool colour);

/* "  label     " up to TERMINAL_LABEL. */
void terminal_label(FILE *out, const char *label);
/* The same, then the text, wrapped. */
void terminal_line(FILE *out, const char *label, const char *text);

/* What --forbid was found to be, where nothing of it is used. */
void terminal_forbid(FILE *out, const struct result *result);
/* The verdict in one sentence, after how much it was cut off, and another check's verdict. */
void terminal_verdict(FILE *out, const struct result *result, bool colour);
/* The report by default, and its last part. */
void terminal_brief(FILE *out, const struct result *result, bool colour);
void terminal_next(FILE *out, const struct result *result);
/* When it fails, the simplest configuration that does, which elements; nothing without a diagnosis. */
void terminal_diagnosis(FILE *out, const struct result *result, bool colour);
/* A line to paste, which is never broken: it runs a configuration again. */
void terminal_command(FILE *out, const struct result *result, const struct config_result *config);
/* Which values make it fail, and the line that shows it. */
void terminal_values(FILE *out, const struct result *result, const char *text);
/* Counts and scores of both sets, drop and retention; by default without figures that -v adds, but with the reason
 * where there is no score. */
void terminal_table(FILE *out, const struct result *result);
void terminal_table_brief(FILE *out, const struct result *result);
/* Failures grouped by outcome, for each a line to paste and what was found; then what was skipped. */
void terminal_failures(FILE *out, const struct result *result, bool colour);
void terminal_skipped(FILE *out, const struct result *result);

#endif
