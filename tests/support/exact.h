/* A second evaluation of the problems, element by element, that shares no code with the oracle. It uses
 * integers and rationals where the inputs allow, else MPFR at EXACT_BITS from the bare formula. */
#ifndef UNSEEN_TEST_EXACT_H
#define UNSEEN_TEST_EXACT_H

#include <gmp.h>
#include <mpfr.h>

#include "oracle.h"

enum { EXACT_BITS = 300 };

/* `out` has EXACT_BITS. *reach is the magnitude of its terms, which scales the error of a shorter
 * evaluation. */
typedef void exact_element(const struct oracle *o, int64_t index, mpfr_t out, double *reach);

exact_element exact_softmax, exact_gemm_fp8, exact_attention; /* exact.c */
exact_element exact_gemm, exact_gemm_w4a16, exact_moe_up;     /* exact_products.c */

/* For every problem but topk, which has no arithmetic, and kda, whose elements share a state. */
exact_element exact_value;

/* A column of kda's state, step by step. */
struct exact_column {
    const struct oracle *o;
    int64_t batch, head, column, step; /* step: how many are done */
    mpfr_t *state;                     /* [dk] */
    double largest;                    /* the largest norm of the column so far */
};
void exact_column_open(struct exact_column *c, const struct oracle *o, int64_t batch, int64_t head,
                       int64_t column);
void exact_column_close(struct exact_column *c);
/* The next output of the column; its flat index is returned. */
int64_t exact_column_next(struct exact_column *c, mpfr_t out, double *reach);

#endif
