/* One self-contained page: no network, style, script and drawings inside. */
#ifndef UNSEEN_HTML_H
#define UNSEEN_HTML_H

#include "result.h"

/* Of each result: verdict and rule, both sets, a map of failures, the roofline, speed against size, worst elements, lines to
 * paste, every configuration. Several results come side by side first, compared with the first one. */
void html_print(FILE *out, const struct result *const *results, int count);

#endif
