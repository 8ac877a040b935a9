/* Null kernels: outputs that no honest work went into, made from the expected one. For the audit. */
#ifndef UNSEEN_NULLS_H
#define UNSEEN_NULLS_H

#include "problems/problem.h"

enum null_kind {
    NULL_ZEROS,
    NULL_ONES,
    NULL_NAN,
    NULL_INPUT,      /* the first input's values, in order, again and again */
    NULL_MEAN,       /* everywhere the mean of the output */
    NULL_MIDDLE,     /* everywhere the middle between its least and greatest value: the best constant */
    NULL_FIRST_ROW,  /* the first row again and again */
    NULL_FIRST_TILE, /* the first 16 x 16 tile again and again */
    NULL_RANDOM,     /* normal, of the output's mean and deviation */
    NULL_NOISE,      /* the output, each element off by half of what the published check tolerates */
    NULL_HALF,       /* the output for half of the work */
    NULL_SMALLER,    /* the output of a configuration of half the extents */
    NULL_PREVIOUS,   /* the output for the previous call's inputs */
    NULL_BF16,       /* the output for inputs rounded to bf16 */
    NULL_KINDS
};

const char *null_name(enum null_kind kind);

/* What a null output is made from; outputs as flat arrays of values. */
struct null_source {
    const struct problem *problem;
    const struct instance_tensor *shape; /* of the output */
    int64_t count;
    const float *expected;
    const float *other; /* NULL_HALF .. NULL_BF16: that output, `others` elements of it */
    int64_t others;
    const float *input;
    int64_t inputs;
    uint64_t seed;
};

/* Fills out[0..count). */
void null_make(enum null_kind kind, const struct null_source *source, float *out);

/* NULL_HALF, NULL_BF16: an input on the host, changed to what the null kernel reads in its place. NULL_BF16 is for fp32
 * tensors. */
void null_change(enum null_kind kind, const struct problem *problem, const struct instance_tensor *shape,
                 enum dtype dtype, void *data);

/* The number at place `at` of a tensor on the host; all of them, one after the other; and back to where they lie. */
float null_value(enum dtype dtype, const void *from, int64_t at);
void null_decode(enum dtype dtype, const struct instance_tensor *shape, const void *from, float *to);
void null_encode(enum dtype dtype, const struct instance_tensor *shape, const float *from, void *to);

#endif
