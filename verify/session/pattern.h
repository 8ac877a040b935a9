/* Describes which elements of an output are wrong: in words, and as a small map. */
#ifndef UNSEEN_PATTERN_H
#define UNSEEN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/record/result.h"

/* `wrong` has one byte per element, nonzero if it is wrong. `dim` is the shape, `shape` the dimensions' names
 * for people, "[rows, cols]". Fills `text` ("the last 3 of 1027 cols, in every row") and the map. The map's
 * rows are all dimensions but the last one together, its columns the last. A character stands for a rectangle
 * of elements: '.' none, 'o' some, '#' all of them wrong. Fills nothing if no element is wrong. */
void pattern_describe(const unsigned char *wrong, const int64_t *dim, int rank, const char *shape,
                      struct pattern *pattern);

#endif
