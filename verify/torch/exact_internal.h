#ifndef UNSEEN_EXACT_INTERNAL_H
#define UNSEEN_EXACT_INTERNAL_H

#include <mpfr.h>

#include "exact.h"

enum { EXACT_RANK = 5, EXACT_JOINED = 1 << 16 };

enum exact_op {
    EXACT_INPUT, /* doubles */
    EXACT_MAP,   /* element i is element place[i] of a; if place[i] < 0, element 0 of `fill` */
    EXACT_JOIN,  /* element i is element place[i] of the concatenated operands */
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
    EXACT_SUM, /* a reduction of `terms` elements of a, from i * terms on */
    EXACT_MOST,
    EXACT_LEAST,
    EXACT_CUMSUM, /* a scan along rows of `terms` elements */
    EXACT_CUMPROD,
    EXACT_MM, /* [batch, m, k] by [batch, k, n]; size is {batch, m, n, k} */
    EXACT_CONV,
    EXACT_OPS
};

/* A convolution's extents: x is [batch, channels, ..]; w and y are alike. */
struct exact_conv {
    int rank; /* number of spatial dimensions */
    int64_t x[EXACT_RANK], w[EXACT_RANK], y[EXACT_RANK];
    int64_t stride[EXACT_RANK], padding[EXACT_RANK], dilation[EXACT_RANK], groups;
    bool transposed;
};

struct exact_node {
    enum exact_op op;
    int a, b, fill;
    int64_t n, terms;
    const void *place; /* doubles of EXACT_INPUT; 64-bit indices of EXACT_MAP and EXACT_JOIN */
    int64_t size[4];
    struct exact_conv *conv;
    /* EXACT_JOIN: the operands, and the first index of each. `start` has one more entry for the end. */
    int *of;
    int64_t *start;
    int joined;
    mpfr_ptr *known; /* [n], each NULL until it is computed; NULL: none is */
};

struct chunk;

struct exact {
    struct exact_node *node;
    int nodes, outputs;
    int *output; /* node of each output; -1: whole numbers */
    struct chunk *chunk;
    int64_t terms; /* spent on the current element */
    bool out_of_memory;
};

/* exact_read.c: reads JSON and checks every number. False: malformed. */
bool exact_read(struct exact *exact, const char *memory, size_t numbers, const char *text, size_t length);

#endif
