/* Single values of a matrix at places that faulty kernels tend to drop. */
#ifndef UNSEEN_NEEDLES_H
#define UNSEEN_NEEDLES_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plants FILL_MAX_PLANTED elements in `fill`; the i-th is value(i). The first is the matrix's last element.
 * The others are in random rows, in one of these columns in turn: the last, the first, the first after whole
 * runs of `vector` columns, the same for `tile` (both powers of two), any. */
void needles_plant(struct fill *fill, int64_t rows, int64_t cols, int64_t vector, int64_t tile,
                   struct random *random, float (*value)(int i));

#ifdef __cplusplus
}
#endif

#endif
