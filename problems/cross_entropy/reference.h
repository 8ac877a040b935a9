/* cross_entropy, the first output: the mean loss of the rows that are not ignored; NaN if all are ignored. */
#define REF_FOLD
#define REF_TOGETHER
#include "problems/cross_entropy/row.h"

#define REF_STORED (PART_SIZE + 1)

struct ref_fold {
    struct acc losses;
    double counted;
    double error; /* sum of the losses' error bounds */
    bool undefined, infinite;
};

REF_FN int64_t ref_folds(const struct ref_context *c)
{
    (void)c;
    return 1;
}

REF_FN int64_t ref_terms(const struct ref_context *c, int64_t fold)
{
    (void)fold;
    return c->extent[CE_ROWS];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 16.0 * (double)c->extent[CE_ROWS] * (double)c->extent[CE_VOCAB];
}

REF_FN void ref_fold_start(struct ref_fold *state)
{
    state->losses = acc_zero();
    state->counted = state->error = 0;
    state->undefined = state->infinite = false;
}

REF_FN void ref_fold_term(const struct ref_context *c, int64_t fold, int64_t i, struct ref_fold *state)
{
    const int64_t label = REF_I64(c, CE_LABELS, i);
    struct ce_row row;
    struct ce_sum sum;
    bool undefined;
    double error;
    (void)fold;
    if (label == c->extent[CE_IGNORE_INDEX])
        return;
    const double max = ref_lane_max(ce_greatest(c, i, REF_TERM_LANE, REF_TERM_LANES, &undefined));
    undefined = ref_lane_max(undefined) > 0 || max == -INFINITY;
    sum.terms = acc_zero();
    sum.weighted = 0;
    if (!undefined)
        sum = ce_add(c, i, max, REF_TERM_LANE, REF_TERM_LANES);
    ref_lane_acc(&sum.terms);
    sum.weighted = ref_lane_sum(sum.weighted);
    ce_close(c, max, undefined, &sum, &row);
    const num loss = ce_loss(c, i, label, &row, &error);
    state->counted += 1;
    state->error += error;
    state->undefined = state->undefined || row.undefined;
    state->infinite = state->infinite || num_mid(loss) == INFINITY;
    if (num_mid(loss) < INFINITY)
        acc_add(&state->losses, loss);
}

REF_FN void ref_fold_merge(struct ref_fold *state, const struct ref_fold *other)
{
    acc_merge(&state->losses, &other->losses);
    state->counted += other->counted;
    state->error += other->error;
    state->undefined = state->undefined || other->undefined;
    state->infinite = state->infinite || other->infinite;
}

REF_FN void ref_fold_finish(const struct ref_context *c, int64_t fold, const struct ref_fold *state,
                            struct ref_element *e)
{
    (void)c;
    (void)fold;
    e->part[PART_ERROR] = e->part[PART_SIZE] = 0;
    if (state->undefined || state->counted == 0) {
        e->value = num_of(NAN);
    } else if (state->infinite) {
        e->value = num_of(INFINITY);
    } else {
        e->value = num_div(acc_num(&state->losses, 0), num_of(state->counted));
        e->part[PART_ERROR] = state->error / state->counted;
        e->part[PART_SIZE] = fabs(num_mid(e->value));
    }
}

/* u = 2^-24. The first part is the mean of the losses' errors. The others are relative to a sum of
 * nonnegative terms, up to their errors, which twice the first part covers. They are 4 rows u for the sum in
 * any order, of which at most 2^-12 is admitted; 1 u for storing the losses; 7 u for the division by the
 * count before or after the sum, or a reciprocal and a product. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double chain = 4 * (double)c->extent[CE_ROWS] * UNIT_F32;
    return (e->part[PART_ERROR] + 2 * a->operand) * (1 + 0x1p-11) +
           e->part[PART_SIZE] * ((chain < 0x1p-12 ? chain : 0x1p-12) + 8 * UNIT_F32 + a->operand);
}
