/* Values of one fill, for tests of a kind of fill. */
#ifndef UNSEEN_TEST_FILLS_H
#define UNSEEN_TEST_FILLS_H

#include <stdint.h>

#include "problems/fill.h"

enum { MANY = 100000 };

/* `count` fp32 values; the caller frees them. */
float *fills_draw(struct fill fill, int64_t count);

struct fills_moments {
    double mean, deviation, low, high, zeros; /* zeros: their share */
};
struct fills_moments fills_measure(const float *x, int64_t count);

#endif
