/* moe_up with switches: out = silu(x w_gate) * (x w_up), one element at a time. Included by moe_up.c and
 * moe_up.cu after honest.h; the same code runs in both. */
#ifndef UNSEEN_TEST_HONEST_MOE_UP_H
#define UNSEEN_TEST_HONEST_MOE_UP_H

#include "moe_up_sum.h"

/* --- silu --- */

HONEST_FN float exp_of(const struct moe *m, float x)
{
    const float log2e = 1.44269504f;
    if (m->mutant == MUTANT_exp_argument_bf16)
        return exp2f(to_bf16(x * log2e));
    if (m->mutant == MUTANT_exp_argument_fp16)
        return exp2f(to_fp16(x * log2e));
#ifdef __CUDA_ARCH__
    if (m->choice[EXPONENTIAL] == EXP_FAST)
        return __expf(x);
    if (m->choice[EXPONENTIAL] == EXP_FAST_BASE_2) {
        float y;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * log2e));
        return y;
    }
#endif
    const float e = m->choice[EXPONENTIAL] == EXP_BASE_2 ? exp2f(x * log2e) : expf(x);
    switch (m->mutant) {
    case MUTANT_exp_bf16: return to_bf16(e);
    case MUTANT_exp_fp16: return to_fp16(e);
    case MUTANT_exp_coarse: return e * (1 + 0x1p-9f);
    default: return e;
    }
}

HONEST_FN float divide(const struct moe *m, float a, float b)
{
#ifdef __CUDA_ARCH__
    if (m->choice[DIVISION] == DIVIDE_FAST)
        return __fdividef(a, b);
    if (m->choice[DIVISION] == DIVIDE_FAST_RECIPROCAL) {
        float r;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
        return a * r;
    }
#endif
    if (m->mutant == MUTANT_reciprocal_coarse)
        return a * keep_bits(1 / b, 9, true);
    return m->choice[DIVISION] == DIVIDE_RECIPROCAL ? a * (1 / b) : a / b;
}

/* On the host the hardware's tanh is emulated with 11 significant bits and its greatest error. */
HONEST_FN float tanh_of(const struct moe *m, float x)
{
    if (m->mutant == MUTANT_tanh_bf16)
        return to_bf16(tanhf(x));
    if (m->choice[TANH]) {
#ifdef __CUDA_ARCH__
        float y;
        asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
#else
        return keep_bits(tanhf(x), 11, false);
#endif
    }
    return tanhf(x);
}

/* factor * sigmoid(g); factor is 1, g, or g * up. */
HONEST_FN float gated(const struct moe *m, float factor, float g)
{
    switch (m->mutant == MUTANT_tanh_bf16 ? FORM_TANH : m->choice[FORM]) {
    case FORM_SIGMOID: return factor * divide(m, 1, 1 + exp_of(m, -g));
    case FORM_STABLE: {
        const float e = exp_of(m, -fabsf(g));
        return divide(m, g < 0 ? factor * e : factor, 1 + e);
    }
    case FORM_TANH: return 0.5f * factor * (1 + tanh_of(m, 0.5f * g));
    case FORM_TANH_BY_EXP: return 0.5f * factor * (1 + (1 - divide(m, 2, 1 + exp_of(m, g))));
    default: return divide(m, factor, 1 + exp_of(m, -g));
    }
}

/* sigmoid linear between multiples of 1/16. */
HONEST_FN float sigmoid_table(float g)
{
    const float low = floorf(g * 16) / 16, high = low + 0.0625f;
    const float at_low = 1 / (1 + expf(-low)), at_high = 1 / (1 + expf(-high));
    return at_low + (g - low) * 16 * (at_high - at_low);
}

HONEST_FN float sigmoid_plain(float g)
{
    return 1 / (1 + expf(-g));
}
HONEST_FN float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

/* silu with the mutant's fault; false: the mutant does not change it. */
HONEST_FN bool silu_mutant(int mutant, float g, float *silu)
{
    switch (mutant) {
    case MUTANT_relu: *silu = g > 0 ? g : 0; return true;
    case MUTANT_hard_swish: *silu = g * clamp(g + 3, 0, 6) / 6; return true;
    case MUTANT_gelu: *silu = 0.5f * g * (1 + erff(g * 0.70710678f)); return true;
    case MUTANT_quick_gelu: *silu = g * sigmoid_plain(1.702f * g); return true;
    case MUTANT_beta: *silu = g * sigmoid_plain((1 + 0x1p-8f) * g); return true;
    case MUTANT_beta_fine: *silu = g * sigmoid_plain((1 + 0x1p-10f) * g); return true;
    case MUTANT_clamped_20:
        g = clamp(g, -20, 20);
        *silu = g * sigmoid_plain(g);
        return true;
    case MUTANT_clamped_10:
        g = clamp(g, -10, 10);
        *silu = g * sigmoid_plain(g);
        return true;
    case MUTANT_saturated: *silu = g < -6 ? 0 : g * sigmoid_plain(g); return true;
    case MUTANT_exp_overflow: *silu = g * expf(g) / (1 + expf(g)); return true;
    case MUTANT_sigmoid_bf16: *silu = g * to_bf16(sigmoid_plain(g)); return true;
    case MUTANT_sigmoid_silu_bf16: *silu = to_bf16(g * to_bf16(sigmoid_plain(g))); return true;
    case MUTANT_sigmoid_fp16: *silu = g * to_fp16(sigmoid_plain(g)); return true;
    case MUTANT_sigmoid_table: *silu = g * sigmoid_table(g); return true;
    case MUTANT_silu_truncated: *silu = keep_bits(g * sigmoid_plain(g), 8, true); return true;
    case MUTANT_all_bf16: {
        const float gate = to_bf16(g), e = to_bf16(expf(-gate));
        *silu = to_bf16(gate * to_bf16(1 / to_bf16(1 + e)));
        return true;
    }
    default: return false;
    }
}

/* Everything after the gate in double, rounded to single before the next step. */
HONEST_FN double moe_product_double(const struct moe *m, double g, double up)
{
    const double silu = g / (1 + exp(-g));
    return m->choice[SILU] ? (double)to_bf16((float)silu) * up : silu * up;
}

HONEST_FN double moe_product(const struct moe *m, float g, float up)
{
    float silu;
    if (silu_mutant(m->mutant, g, &silu))
        return silu * up;
    if (m->choice[SILU])
        return to_bf16(gated(m, g, g)) * up;
    switch (m->choice[PRODUCT]) {
    case PRODUCT_SIGMOID_FIRST: return g * (gated(m, 1, g) * up);
    case PRODUCT_GATE_FIRST: return gated(m, g * up, g);
    default: return gated(m, g, g) * up;
    }
}

HONEST_FN double gate_as_kept(const struct moe *m, double gate)
{
    switch (m->mutant) {
    case MUTANT_gate_fp16: return to_fp16((float)gate);
    case MUTANT_gate_7_bits: return keep_bits((float)gate, 7, false);
    case MUTANT_gate_truncated: return keep_bits((float)gate, 8, true);
    default: return m->choice[GATE] ? to_bf16((float)gate) : gate;
    }
}

HONEST_FN double up_as_kept(const struct moe *m, double up)
{
    switch (m->mutant) {
    case MUTANT_up_truncated: return keep_bits((float)up, 8, true);
    case MUTANT_rounded_twice_up: return to_bf16(keep_bits((float)up, 9, false));
    default: return m->choice[UP] ? to_bf16((float)up) : up;
    }
}

/* From both sums to the output before its last rounding. */
HONEST_FN double moe_finish(const struct moe *m, double gate, double up)
{
    const double g = gate_as_kept(m, gate), u = up_as_kept(m, up);
    return m->choice[EXPONENTIAL] == EXP_DOUBLE ? moe_product_double(m, g, u)
                                                : moe_product(m, (float)g, (float)u);
}

HONEST_FN double output_mutant(const struct moe *m, int64_t index, double y)
{
    switch (m->mutant) {
    case MUTANT_product_fp16: return to_fp16((float)y);
    case MUTANT_product_9_bits: return keep_bits((float)y, 9, false);
    case MUTANT_output_truncated: return keep_bits((float)y, 8, true);
    case MUTANT_output_scaled_7: return y * (1 + 0x1p-7);
    case MUTANT_output_scaled_8: return y * (1 + 0x1p-8);
    case MUTANT_output_scaled_10: return y * (1 + 0x1p-10);
    case MUTANT_output_some_8: return index % 1000 == 7 ? y * (1 + 0x1p-8) : y;
    case MUTANT_output_some_7: return index % 1000 == 7 ? y * (1 + 0x1p-7) : y;
    case MUTANT_output_flushed: return fabs(y) < 0x1p-30 ? 0 : y;
    default: return y;
    }
}

HONEST_FN void moe_store(const struct moe *m, int64_t row, int64_t col, double gate, double up)
{
    const int64_t index = row * m->inter + col;
    const bool swapped =
        m->mutant == MUTANT_swapped || (m->mutant == MUTANT_swapped_tile && col >= (m->inter - 1) / 16 * 16);
    const double y = output_mutant(m, index, swapped ? moe_finish(m, up, gate) : moe_finish(m, gate, up));
    m->out[index] = bf16_of((float)y);
    if (m->unrounded)
        m->unrounded[index] = y;
}

/* --- experts --- */

/* The last expert that starts at `row` or before. */
HONEST_FN int64_t expert_of(const struct moe *m, int64_t row)
{
    int64_t low = 0, high = m->experts;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (m->offsets[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whose weights a row of `expert` gets, for the gate or for up. */
HONEST_FN int64_t weights_of(const struct moe *m, bool is_up, int64_t expert, int64_t row)
{
    const bool last = row == m->offsets[expert + 1] - 1;
    if (m->mutant == MUTANT_last_row && last)
        return expert + 1 < m->experts ? expert + 1 : expert;
    if (m->mutant == MUTANT_first_row && row == m->offsets[expert])
        return expert > 0 ? expert - 1 : expert;
    return m->mutant == MUTANT_up_by_first && is_up && last ? 0 : expert;
}

/* The row of hidden that `row` uses; -1: none, its outputs are 0. */
HONEST_FN int64_t hidden_of(const struct moe *m, int64_t expert, int64_t row)
{
    const int64_t first = m->offsets[expert], rows = m->offsets[expert + 1] - first;
    if (m->mutant == MUTANT_rows_tail && row - first >= rows / 8 * 8)
        return -1;
    return m->mutant == MUTANT_row_128 && row - first == 128 ? row - 1 : row;
}

/* One element. packed[0] and packed[1], where not NULL, are the expert's column of either weight, dense. */
HONEST_FN void moe_element(const struct moe *m, int64_t expert, int64_t row, int64_t col,
                           const uint16_t *const packed[2])
{
    const int64_t source = hidden_of(m, expert, row);
    double sum[2] = {0, 0};
    for (int part = 0; part < 2 && source >= 0; part++) {
        const int64_t of = weights_of(m, part == 1, expert, row);
        const uint16_t *w = (part ? m->w_up : m->w_gate) + of * m->dim * m->inter + col;
        const bool dense = packed[part] && of == expert;
        sum[part] = moe_dot(m, part == 1, m->hidden + source * m->dim, dense ? packed[part] : w,
                            dense ? 1 : m->inter);
    }
    moe_store(m, row, col, sum[0], sum[1]);
}

#endif
