#ifndef UNSEEN_TEST_SCALED_H
#define UNSEEN_TEST_SCALED_H

#include "reference/judge.h"

enum { SCALED_X, SCALED_MASK, SCALED_WEIGHT, SCALED_BIAS, SCALED_Y };
enum {
    SCALED_ROWS,
    SCALED_COLS,
    SCALED_LDX,
    SCALED_LDY,
    SCALED_OFFSET,
    SCALED_NEGATE,
    SCALED_SCALE,
    SCALED_SHIFT
};

/* y in f16, in i8, and in-out in f16. */
extern const struct problem problem_scaled_f16, problem_scaled_i8, problem_scaled_inout;
extern const struct reference reference_scaled_f16, reference_scaled_i8, reference_scaled_inout;

#endif
