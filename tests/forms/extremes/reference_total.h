/* extremes, total: total[r] = sum_c x[r,c]. */
#include "row.h"

struct ref_state {
    struct acc sum;
};

REF_FN double extremes_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t cols = c->extent[EXTREMES_COLS];
    (void)scratch;
    state->sum = acc_zero();
    for (int64_t j = REF_LANE; j < cols; j += REF_LANES)
        acc_add_product(&state->sum, REF_BF16(c, 0, row * cols + j), 1);
    ref_all_acc(&state->sum);
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)row, (void)first, (void)count, (void)scratch;
    e->value = acc_num(&state->sum, extremes_unit(c));
    ref_keep_sum(&state->sum, e->part);
}

REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, extremes_unit(c));
    return error_of_sum(a, c->data, &facts);
}
