/* The end of a batch: verdicts, a ranking by score, and failures clustered by their rule. */
#ifndef UNSEEN_BATCH_SUMMARY_H
#define UNSEEN_BATCH_SUMMARY_H

#include <stdio.h>

#include "list.h"

/* The row of one finished candidate in the live table: verdict, score, seconds, id, and why. */
void batch_summary_row(FILE *out, const json_t *line);

/* `line` has a line, or NULL, for each item. */
void batch_summary_print(FILE *out, const struct batch_list *list, json_t *const *line);

/* The score of the unseen set; without times, the share of it that passes. Below 0: neither. `name` gets the
 * score's name. */
double batch_summary_score(const json_t *line, const char **name);

#endif
