/* A few values of a matrix at the places that a kernel is likely to forget. */
#ifndef UNSEEN_NEEDLES_H
#define UNSEEN_NEEDLES_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plants FILL_MAX_PLANTED elements in `fill`, the i-th being value(i): the matrix's last one, then in random rows by turns
 * the last column, the first, the first after whole runs of `vector` columns, the same of `tile` (powers of two), any. */
void needles_plant(struct fill *fill, int64_t rows, int64_t cols, int64_t vector, int64_t tile,
                   struct random *random, float (*value)(int i));

#ifdef __cplusplus
}
#endif

#endif
