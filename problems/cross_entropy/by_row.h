/* cross_entropy, shared by the outputs with one element per row: all lanes process the row. */
#include "problems/cross_entropy/row.h"

#define REF_STORED (PART_ERROR + 1)

struct ref_state {
    struct ce_row row;
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[CE_ROWS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    (void)c;
    return 1;
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 16.0 * (double)c->extent[CE_VOCAB]; /* an exponential costs about sixteen additions */
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    bool undefined;
    struct ce_sum sum;
    double max = ce_greatest(c, row, REF_LANE, REF_LANES, &undefined);
    (void)scratch;
    max = ref_all_max(max);
    undefined = ref_all_any(undefined) || max == -INFINITY;
    sum.terms = acc_zero();
    sum.weighted = 0;
    if (!undefined)
        sum = ce_add(c, row, max, REF_LANE, REF_LANES);
    ref_all_acc(&sum.terms);
    sum.weighted = ref_all_sum(sum.weighted);
    ce_close(c, max, undefined, &sum, &state->row);
}

/* In a narrower format each exponential errs by its unit, and so does their sum. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c;
    return e->part[PART_ERROR] == 0 ? 0 : e->part[PART_ERROR] + 2 * a->operand;
}
