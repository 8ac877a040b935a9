/* attention, the output `lse`: log sum_t exp(s_t) with s_t = scale q . k_t, over the keys t that are visible
 * to query i. */
#include "problems/attention/weights.h"

REF_FN int64_t ref_width(const struct ref_context *c)
{
    (void)c;
    return 1;
}

#ifdef REF_TOUCH
#define REF_TOUCHES

REF_FN void ref_touch(const struct ref_context *c, int64_t row)
{
    struct ref_state state;
    attention_open(c, row, &state);
    for (int64_t t = REF_LANE; t < state.length; t += REF_LANES)
        REF_TOUCH(REF_BF16, c, ATTENTION_KEY, attention_key(c, &state, t), c->extent[EXTENT_DIM]);
}

#endif

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)c;
    (void)row;
    (void)scratch;
    (void)first;
    for (int64_t j = 0; j < count; j++) {
        e[j].value = num_add(num_of(state->max), num_log(state->sum));
        e[j].part[PART_VALUE] = fabs(num_mid(e[j].value));
        e[j].part[PART_WEIGHTED] = e[j].part[PART_NORM] = e[j].part[PART_DISTANCE] = 0;
        e[j].part[PART_SPREAD] = state->mean_distance;
        e[j].part[PART_SCORE] = state->score_size;
        e[j].part[PART_LENGTH] = (double)state->length;
        e[j].part[PART_WEIGHT_NORM] = state->weight_norm;
    }
}

/* Relative error of the sum of L unrounded exponentials. Any order, any split and a rescaling at every term
 * (a product and an exponential, 4u) stay within 8 L u; at most 2^-12 is admitted. For random terms the
 * roundings of a chain are random, too. Each is u / sqrt(3) of a running sum that averages sum / sqrt(3), so
 * u sqrt(L) / 3 in all; 8 u sqrt(L) are 24 deviations. The maximum changes about ln L times, covered by 64 u.
 * DATA_EXACT: all weights are 1, or all but one are negligible, and the sum is exact. */
REF_FN double lse_sum_error(const struct ref_context *c, double length)
{
    const double chain = 8 * length * UNIT_F32, walk = (64 + 8 * sqrt(length)) * UNIT_F32;
    const double least = chain < 0x1p-12 ? chain : 0x1p-12;
    if (c->data == DATA_EXACT)
        return 0;
    return c->data == DATA_SIGN_RANDOM && walk < least ? walk : least;
}

/* d lse = sum_t w_t d s_t + (relative error of the sum). The terms are: a score's error
 * (attention_reference.h) times S; the exponentials' u (4 + 4.346 distance), weighted, so with the mean
 * distance; and the sum's error. Further roundings are u |lse| and u S each: a logarithm of either base,
 * within 2^-22 near 1 or 2 ulp; a product with ln 2; adding the maximum; merging splits by their log-sum-exp.
 * Together 16 u |lse| + 2^-20; S is covered by the scores' 4u. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double *part = e->part;
    return attention_score_error(c, a) * part[PART_SCORE] +
           UNIT_F32 * (4 + 4.346 * part[PART_SPREAD] + 16 * part[PART_VALUE]) +
           lse_sum_error(c, part[PART_LENGTH]) + 0x1p-20;
}
