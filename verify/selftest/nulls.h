/* Null kernels, for the audit: outputs without honest work, derived from the expected output. */
#ifndef UNSEEN_NULLS_H
#define UNSEEN_NULLS_H

#include "problems/problem.h"

enum null_kind {
    NULL_ZEROS,
    NULL_ONES,
    NULL_NAN,
    NULL_INPUT,      /* the first input's values, repeated in order */
    NULL_MEAN,       /* the mean of the output everywhere */
    NULL_MIDDLE,     /* the midpoint between its minimum and maximum everywhere: the best constant */
    NULL_FIRST_ROW,  /* the first row, repeated */
    NULL_FIRST_TILE, /* the first 16 x 16 tile, repeated */
    NULL_RANDOM,     /* normal, with the output's mean and deviation */
    NULL_NOISE,      /* the output, with each element off by half of the published tolerance */
    NULL_HALF,       /* the output for half of the input */
    NULL_SMALLER,    /* the output of a configuration of half the extents */
    NULL_PREVIOUS,   /* the output for the previous call's inputs */
    NULL_BF16,       /* the output for inputs rounded to bf16 */
    NULL_KINDS
};

const char *null_name(enum null_kind kind);

/* Data from which a null output is made; outputs are flat arrays of values. */
struct null_source {
    const struct problem *problem;
    const struct instance_tensor *shape; /* of the output */
    int64_t count;
    const float *expected;
    const float *other; /* for NULL_HALF .. NULL_BF16: that output, with `others` elements */
    int64_t others;
    const float *input;
    int64_t inputs;
    uint64_t seed;
};

/* Fills out[0..count). */
void null_make(enum null_kind kind, const struct null_source *source, float *out);

/* For NULL_HALF and NULL_BF16: changes an input on the host to what the null kernel reads. NULL_BF16 is for
 * fp32 tensors. */
void null_change(enum null_kind kind, const struct problem *problem, const struct instance_tensor *shape,
                 enum dtype dtype, void *data);

/* Conversions of a tensor on the host: the value at offset `at`; all values to a flat array; and back. */
float null_value(enum dtype dtype, const void *from, int64_t at);
void null_decode(enum dtype dtype, const struct instance_tensor *shape, const void *from, float *to);
void null_encode(enum dtype dtype, const struct instance_tensor *shape, const float *from, void *to);

#endif
