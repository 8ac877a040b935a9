/* Quality of an imported task's reference values, in words. */
#ifndef UNSEEN_TOLD_H
#define UNSEEN_TOLD_H

#include "result.h"

/* "enclosed", "fp64" or "ensemble". NULL: the problem has its own reference, or nothing was judged. */
const char *told_label(const struct told *told);

/* Explains the labels of a run and counts their configurations. False: there are none. */
bool told_line(const struct result *result, char *text, size_t size);

/* The same in few words: "enclosed in 5 of 8 configurations, ensemble in 2, none known in 1". */
bool told_brief(const struct result *result, char *text, size_t size);

#endif
