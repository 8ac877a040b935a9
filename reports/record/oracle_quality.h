/* Quality of an imported task's reference values, in words. */
#ifndef UNSEEN_ORACLE_QUALITY_H
#define UNSEEN_ORACLE_QUALITY_H

#include "result.h"

/* "enclosed", "fp64" or "ensemble". NULL: the problem has its own reference, or nothing was judged. */
const char *oracle_quality_label(const struct oracle_quality *told);

/* Explains the labels of a run and counts their configurations. False: there are none. */
bool oracle_quality_line(const struct result *result, char *text, size_t size);

/* The same in few words: "enclosed in 5 of 8 configurations, ensemble in 2, none known in 1". */
bool oracle_quality_brief(const struct result *result, char *text, size_t size);

#endif
