/* One self-contained HTML page: style, script and drawings are inside, and it needs no network. */
#ifndef UNSEEN_HTML_H
#define UNSEEN_HTML_H

#include "reports/record/result.h"

/* For each result: verdict and rule, scores of both sets, a map of failures, the roofline, speed against
 * size, worst elements, commands to paste, every configuration. With several results the page begins with a
 * comparison to the first one. */
void html_print(FILE *out, const struct result *const *results, int count);

#endif
