/* layer_norm, the first output: y = (x - mean) rstd gamma + beta. */
#include "problems/layer_norm/moments.h"

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[NORM_COLS];
}

/* (x - m) r gamma + beta, or x (r gamma) + (beta - m r gamma). The error has the mean's, and one rounding of
 * x - m or, in the second form, of x and m separately. Three products add 4 u; so does the addition to beta,
 * with its rounding if it cancels. */
REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    const double mean = fabs(num_mid(state->mean)), rstd = num_mid(state->rstd);
    (void)scratch;
    for (int64_t j = 0; j < count; j++) {
        const double x = REF_F32(c, NORM_X, row * c->extent[NORM_COLS] + first + j);
        const double gamma = REF_F32(c, NORM_GAMMA, first + j), beta = REF_F32(c, NORM_BETA, first + j);
        const num scaled = num_mul(num_mul(num_sub(num_of(x), state->mean), state->rstd), num_of(gamma));
        e[j].value = state->undefined ? num_of(NAN) : num_add(scaled, num_of(beta));
        e[j].part[PART_ERROR] = rstd * fabs(gamma) * (state->mean_error + 4 * UNIT_F32 * (fabs(x) + mean)) +
                                fabs(num_mid(scaled)) * state->rstd_error + 2 * UNIT_F32 * fabs(beta) +
                                0x1p-126;
    }
}
