/* How the right answers of an imported task are known, in words. */
#ifndef UNSEEN_TOLD_H
#define UNSEEN_TOLD_H

#include "result.h"

/* "enclosed", "fp64" or "ensemble"; NULL: the problem has a reference of its own, or nothing was judged. */
const char *told_label(const struct told *told);

/* What the labels of a run mean, and how many configurations have each. False: there are none. */
bool told_line(const struct result *result, char *text, size_t size);

#endif
