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

/* The verdict in one sentence. */
void terminal_verdict(FILE *out, const struct result *result, bool colour);
/* When it fails, the simplest configuration that does, which elements; nothing without a diagnosis. */
void terminal_diagnosis(FILE *out, const struct result *result, bool colour);
/* A line to paste, which is never broken: it runs a configuration again. */
void terminal_command(FILE *out, const struct result *result, const struct config_result *config);
/* Counts and scores of both sets, drop and retention. */
void terminal_table(FILE *out, const struct result *result);
/* Failures grouped by outcome, for each a line to paste and what was found; then what was skipped. */
void terminal_failures(FILE *out, const struct result *result, bool colour);
void terminal_skipped(FILE *out, const struct result *result);

#endif
