#ifndef UNSEEN_EXACT_INTERNAL_H
#define UNSEEN_EXACT_INTERNAL_H

#include <mpfr.h>

#include "exact.h"

enum { EXACT_RANK = 5, EXACT_JOINED = 256 };

enum exact_op {
    EXACT_INPUT, /* doubles at `at` */
    EXACT_MAP,   /* element i is element place[i] of a, or where that is negative element 0 of `fill` */
    EXACT_JOIN,  /* element i is number place[i] of all the operands one after another */
    EXACT_ABS,
    EXACT_EXP,
    EXACT_LOG,
    EXACT_SQRT,
    EXACT_TANH,
    EXACT_ERF,
    EXACT_SIN,
    EXACT_COS,
    EXACT_ADD,
    EXACT_SUB,
    EXACT_MUL,
    EXACT_DIV,
    EXACT_MAX,
    EXACT_MIN,
    EXACT_SUM, /* of `terms` elements of a from i * terms on */
    EXACT_MOST,
    EXACT_LEAST,
    EXACT_CUMSUM, /* along rows of `terms` elements */
    EXACT_CUMPROD,
    EXACT_MM, /* [batch, m, k] times [batch, k, n]; size is {batch, m, n, k} */
    EXACT_CONV,
    EXACT_OPS
};

/* A convolution's extents: x [batch, channels, ..], w and y likewise. */
struct exact_conv {
    int rank; /* of the space */
    int64_t x[EXACT_RANK], w[EXACT_RANK], y[EXACT_RANK];
    int64_t stride[EXACT_RANK], padding[EXACT_RANK], dilation[EXACT_RANK], groups;
    bool transposed;
};

struct exact_node {
    enum exact_op op;
    int a, b, fill;
    int64_t n, terms;
    const void *place; /* of EXACT_INPUT doubles, of MAP and JOIN 64-bit numbers */
    int64_t size[4];
    struct exact_conv *conv;
    int *of; /* of a join: the operands, and where their elements begin; one more */
    int64_t *start;
    int joined;
    mpfr_ptr *known; /* [n], each NULL until somebody asked for it; NULL: nobody did */
};

struct chunk;

struct exact {
    struct exact_node *node;
    int nodes, outputs;
    int *output; /* node of each; -1: whole numbers */
    struct chunk *chunk;
    int64_t terms; /* spent on the element at hand */
    bool out_of_memory;
};

/* exact_read.c: from JSON, with every number checked. False: malformed. */
bool exact_read(struct exact *exact, const char *memory, size_t numbers, const char *text, size_t length);

#endif
