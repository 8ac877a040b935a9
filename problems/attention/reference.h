/* attention, the first output: out[i,h,:] = sum_t w_t v_t / sum_t w_t with w_t = exp(scale q . k_t), over the
 * keys t that are visible to query i. */
#include "problems/attention/weights.h"

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[EXTENT_DIM];
}

#ifdef REF_TOUCH
#define REF_TOUCHES

/* Keys and values of one head are kv_heads D elements apart. */
REF_FN void ref_touch(const struct ref_context *c, int64_t row)
{
    struct ref_state state;
    attention_open(c, row, &state);
    for (int64_t t = REF_LANE; t < state.length; t += REF_LANES) {
        REF_TOUCH(REF_BF16, c, ATTENTION_KEY, attention_key(c, &state, t), c->extent[EXTENT_DIM]);
        REF_TOUCH(REF_BF16, c, ATTENTION_VALUE, attention_key(c, &state, t), c->extent[EXTENT_DIM]);
    }
}

#endif

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)row;
    attention_elements(c, first, count, scratch, state, e);
}

/* attention_reference.h has the derivation. In addition, weights below fp32's normal range may be flushed: at
 * most L of them, 2^-126 of the largest each, times values below 2^6. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    return attention_error(c, a, e) + e->part[PART_LENGTH] * 0x1p-120;
}
