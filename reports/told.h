/* Quality of an imported task's reference values, in words. */
#ifndef UNSEEN_TOLD_H
#define UNSEEN_TOLD_H

#include "result.h"

/* "enclosed", "fp64" or "ensemble". NULL: the problem has its own reference, or nothing was judged. */
const char *told_label(const struct told *told);

/* Explains the labels of a run and counts their configurations. False: there are none. */
bool told_line(const struct result *result, char *text, size_t size);

#endif
