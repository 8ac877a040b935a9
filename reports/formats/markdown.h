/* Markdown for a comment on a pull request: always below 60 lines. */
#ifndef UNSEEN_MARKDOWN_H
#define UNSEEN_MARKDOWN_H

#include "reports/record/result.h"

/* One result: verdict, rule, scores of both sets, commands to paste. Several results: side by side, compared
 * with the first. */
void markdown_print(FILE *out, const struct result *const *results, int count);

#endif
