/* kda by its definition: one column s of S, in MPFR. */
#include "exact.h"

#include <math.h>
#include <stdlib.h>

void exact_column_open(struct exact_column *c, const struct oracle *o, int64_t batch, int64_t head,
                       int64_t column)
{
    *c = (struct exact_column){.o = o, .batch = batch, .head = head, .column = column};
    c->state = malloc((size_t)o->instance.extent[3] * sizeof *c->state);
    ck_assert_ptr_nonnull(c->state);
    for (int64_t i = 0; i < o->instance.extent[3]; i++) {
        mpfr_init2(c->state[i], EXACT_BITS);
        mpfr_set_zero(c->state[i], 1);
    }
}

void exact_column_close(struct exact_column *c)
{
    for (int64_t i = 0; i < c->o->instance.extent[3]; i++)
        mpfr_clear(c->state[i]);
    free(c->state);
}

/* s <- exp(g) s, and the residual beta (v - k . s) after it. */
static void decay(struct exact_column *c, int64_t at, mpfr_t residual)
{
    const int64_t dk = c->o->instance.extent[3], dv = c->o->instance.extent[4];
    mpfr_t term;
    mpfr_init2(term, EXACT_BITS);
    mpfr_set_d(residual, oracle_bf16(c->o, 2, at * dv + c->column), MPFR_RNDN);
    for (int64_t i = 0; i < dk; i++) {
        mpfr_set_d(term, oracle_f32(c->o, 3, at * dk + i), MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_mul(c->state[i], c->state[i], term, MPFR_RNDN);
        mpfr_mul_d(term, c->state[i], oracle_bf16(c->o, 1, at * dk + i), MPFR_RNDN);
        mpfr_sub(residual, residual, term, MPFR_RNDN);
    }
    mpfr_mul_d(residual, residual, oracle_bf16(c->o, 4, at), MPFR_RNDN);
    mpfr_clear(term);
}

int64_t exact_column_next(struct exact_column *c, mpfr_t out, double *reach)
{
    const int64_t *e = c->o->instance.extent, dk = e[3], dv = e[4];
    const int64_t at = (c->batch * e[1] + c->step++) * e[2] + c->head;
    double norm = 0, query = 0;
    mpfr_t residual, term;
    mpfr_inits2(EXACT_BITS, residual, term, (mpfr_ptr)0);
    decay(c, at, residual);
    mpfr_set_zero(out, 1);
    for (int64_t i = 0; i < dk; i++) {
        const double q = oracle_bf16(c->o, 0, at * dk + i);
        mpfr_mul_d(term, residual, oracle_bf16(c->o, 1, at * dk + i), MPFR_RNDN);
        mpfr_add(c->state[i], c->state[i], term, MPFR_RNDN);
        mpfr_mul_d(term, c->state[i], q, MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
        norm = hypot(norm, mpfr_get_d(c->state[i], MPFR_RNDN));
        query = hypot(query, q);
    }
    mpfr_sqrt_ui(term, (unsigned long)dk, MPFR_RNDN);
    mpfr_div(out, out, term, MPFR_RNDN);
    c->largest = fmax(c->largest, norm);
    *reach = query * c->largest;
    mpfr_clears(residual, term, (mpfr_ptr)0);
    return at * dv + c->column;
}
