/* extremes, top: top[r] = max_c x[r,c]. */
#include "row.h"

struct ref_state {
    double top;
};

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t cols = c->extent[EXTREMES_COLS];
    double top = -INFINITY;
    (void)scratch;
    for (int64_t j = REF_LANE; j < cols; j += REF_LANES) {
        const double x = REF_BF16(c, 0, row * cols + j);
        top = x > top ? x : top;
    }
    state->top = ref_all_max(top);
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)c, (void)row, (void)first, (void)count, (void)scratch;
    e->value = num_of(state->top);
}

/* Nothing is computed. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c, (void)a, (void)e;
    return 0;
}
