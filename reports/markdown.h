/* Markdown for a pull request's comment: always below 60 lines. */
#ifndef UNSEEN_MARKDOWN_H
#define UNSEEN_MARKDOWN_H

#include "result.h"

/* Of one result the verdict, the rule, both sets and lines to paste; several side by side, compared with the first. */
void markdown_print(FILE *out, const struct result *const *results, int count);

#endif
