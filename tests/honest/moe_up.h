/* moe_up with switches: out = silu(x w_gate) * (x w_up), one element at a time. Included by moe_up.c and moe_up.cu
 * after honest.h; the same code runs in both. */
#ifndef UNSEEN_TEST_HONEST_MOE_UP_H
#define UNSEEN_TEST_HONEST_MOE_UP_H

#include "arithmetic.h"

/* --- switches --- */

enum { SUM, ORDER, SPLIT, MERGE, UP_ORDER, GATE, UP, SILU, FORM, EXPONENTIAL, TANH, DIVISION, PRODUCT };
#ifdef __CUDACC__
enum { SUM_FP32, SUM_DOUBLE, SUM_WMMA };
#else
enum { SUM_FP32, SUM_DOUBLE, SUM_AMPERE, SUM_HOPPER };
#endif
enum { ORDER_FORWARD, ORDER_BACKWARD, ORDER_BLOCKS, ORDER_LANES, ORDER_PAIRWISE };
enum { MERGE_FORWARD, MERGE_BACKWARD, MERGE_TREE };
enum { FORM_QUOTIENT, FORM_SIGMOID, FORM_STABLE, FORM_TANH, FORM_TANH_BY_EXP };
enum { EXP_LIBRARY, EXP_BASE_2, EXP_DOUBLE, EXP_FAST, EXP_FAST_BASE_2 };
enum { DIVIDE_IEEE, DIVIDE_RECIPROCAL, DIVIDE_FAST, DIVIDE_FAST_RECIPROCAL };
enum { PRODUCT_SILU_UP, PRODUCT_SIGMOID_FIRST, PRODUCT_GATE_FIRST };

/* By the enumerations above. Rounding up, gate and silu is independent; with silu rounded, the product can only
 * be silu * up. */
const struct honest_switch honest_switches[] = {
#ifdef __CUDACC__
    {"sum", {"fp32", "double", "wmma", NULL}, {0, 0, 80}},
#else
    {"sum", {"fp32", "double", "ampere", "hopper", NULL}, {0, 0, 80, 90}},
#endif
    {"order", {"forward", "backward", "blocks", "lanes", "pairwise", NULL}, {0}},
    {"split", {"1", "2", "5", "16", NULL}, {0}},
    {"merge", {"forward", "backward", "tree", NULL}, {0}},
    {"up_order", {"same", "forward", NULL}, {0}},
    {"gate", {"fp32", "bf16", NULL}, {0}},
    {"up", {"fp32", "bf16", NULL}, {0}},
    {"silu", {"fp32", "bf16", NULL}, {0}},
    {"form", {"quotient", "sigmoid", "stable", "tanh", "tanh_by_exp", NULL}, {0}},
#ifdef __CUDACC__
    {"exp", {"expf", "exp2f", "double", "fast", "ex2", NULL}, {0, 0, 0, 80, 80}},
#else
    {"exp", {"expf", "exp2f", "double", NULL}, {0}},
#endif
    {"tanh", {"tanhf", "approx", NULL}, {0, 80}},
#ifdef __CUDACC__
    {"divide", {"ieee", "reciprocal", "fast", "rcp", NULL}, {0, 0, 80, 80}},
#else
    {"divide", {"ieee", "reciprocal", NULL}, {0}},
#endif
    {"product", {"silu_up", "sigmoid_first", "gate_first", NULL}, {0}},
    {NULL, {NULL}, {0}}};

/* --- mutants --- */

#define MOE_MUTANTS(X)                                                                                          \
    X(drop_first, "the first term of both sums is missing", NULL)                                               \
    X(drop_last, "the last term of both sums is missing", NULL)                                                 \
    X(drop_middle, "the middle term of both sums is missing", NULL)                                             \
    X(drop_edge, "the first term of the last tile of 64 is missing", NULL)                                      \
    X(drop_tail, "hidden_dim mod 8 terms are missing", NULL)                                                    \
    X(drop_last_long, "the last term is missing where hidden_dim > 4000", NULL)                                 \
    X(drop_middle_long, "term 4096 is missing", NULL)                                                           \
    X(drop_last_gate, "the last term of the gate is missing", NULL)                                             \
    X(drop_last_up, "the last term of up is missing", NULL)                                                     \
    X(double_first, "the first term counts twice", NULL)                                                        \
    X(double_last, "the last term counts twice", NULL)                                                          \
    X(double_edge, "term 128 counts twice", NULL)                                                               \
    X(drop_split_up, "of two halves of long sums only the first is added to up", NULL)                          \
    X(bf16_accumulator, "sums kept in bf16", NULL)                                                              \
    X(bf16_every_32, "sums rounded to bf16 every 32 terms", NULL)                                               \
    X(bf16_every_64, "sums rounded to bf16 every 64 terms", NULL)                                               \
    X(bf16_every_128, "sums rounded to bf16 every 128 terms", NULL)                                             \
    X(bf16_every_1024, "sums rounded to bf16 every 1024 terms", NULL)                                           \
    X(fp16_accumulator, "sums kept in fp16", NULL)                                                              \
    X(fp16_every_32, "sums rounded to fp16 every 32 terms", NULL)                                               \
    X(fp16_every_128, "sums rounded to fp16 every 128 terms", NULL)                                             \
    X(tf32_accumulator, "sums kept with 11 significant bits", NULL)                                             \
    X(tf32_every_32, "sums rounded to 11 significant bits every 32 terms", NULL)                                \
    X(split_bf16, "the halves of the sums are stored in bf16 and merged", NULL)                                 \
    X(split_8_bf16, "eighths of the sums are stored in bf16 and merged", NULL)                                  \
    X(split_fp16, "the halves of the sums are stored in fp16 and merged", NULL)                                 \
    X(operands_fp16, "operands converted to fp16", NULL)                                                        \
    X(operands_7_bits, "hidden loses its last bit", NULL)                                                       \
    X(weights_e4m3, "weights rounded to 4 significant bits", NULL)                                              \
    X(gate_fp16, "gate rounded to fp16", NULL)                                                                  \
    X(gate_7_bits, "gate rounded to 7 significant bits", NULL)                                                  \
    X(gate_truncated, "gate truncated to bf16", NULL)                                                           \
    X(up_truncated, "up truncated to bf16", NULL)                                                               \
    X(silu_truncated, "silu truncated to bf16", NULL)                                                           \
    X(relu, "max(g, 0)", NULL)                                                                                  \
    X(hard_swish, "g min(max(g + 3, 0), 6) / 6", NULL)                                                          \
    X(gelu, "g Phi(g)", NULL)                                                                                   \
    X(quick_gelu, "g sigmoid(1.702 g)", NULL)                                                                   \
    X(beta, "g sigmoid((1 + 2^-8) g)", NULL)                                                                    \
    X(beta_fine, "g sigmoid((1 + 2^-10) g)", NULL)                                                              \
    X(clamped_20, "gates clamped to +-20", NULL)                                                                \
    X(clamped_10, "gates clamped to +-10", NULL)                                                                \
    X(saturated, "silu is 0 below -6", NULL)                                                                    \
    X(exp_overflow, "g exp(g) / (1 + exp(g)), NaN at large gates", NULL)                                        \
    X(exp_bf16, "exponential rounded to bf16", NULL)                                                            \
    X(exp_fp16, "exponential rounded to fp16", NULL)                                                            \
    X(exp_argument_bf16, "the exponential's argument rounded to bf16", NULL)                                    \
    X(exp_argument_fp16, "the exponential's argument rounded to fp16", NULL)                                    \
    X(exp_coarse, "exponential off by 2^-9", NULL)                                                              \
    X(sigmoid_bf16, "sigmoid rounded to bf16, then the product with g", NULL)                                   \
    X(sigmoid_silu_bf16, "sigmoid rounded to bf16, then silu", NULL)                                            \
    X(sigmoid_fp16, "sigmoid rounded to fp16", NULL)                                                            \
    X(sigmoid_table, "sigmoid linear between multiples of 1/16", NULL)                                          \
    X(reciprocal_coarse, "reciprocal with 9 bits", NULL)                                                        \
    X(tanh_bf16, "tanh rounded to bf16", NULL)                                                                  \
    X(all_bf16, "sum, exponential, sigmoid, silu rounded to bf16", NULL)                                        \
    X(product_fp16, "the output rounded to fp16 before bf16", NULL)                                             \
    X(product_9_bits, "the output rounded to 9 bits before bf16", NULL)                                         \
    X(output_truncated, "the output truncated to bf16", NULL)                                                   \
    X(output_scaled_7, "the output times 1 + 2^-7", NULL)                                                       \
    X(output_scaled_8, "the output times 1 + 2^-8", NULL)                                                       \
    X(output_scaled_10, "the output times 1 + 2^-10", NULL)                                                     \
    X(output_some_8, "one element in a thousand times 1 + 2^-8", NULL)                                          \
    X(output_some_7, "one element in a thousand times 1 + 2^-7", NULL)                                          \
    X(output_flushed, "outputs below 2^-30 are 0", NULL)                                                        \
    X(swapped, "gate and up are swapped", NULL)                                                                 \
    X(swapped_tile, "gate and up are swapped in the last 16 columns", NULL)                                     \
    X(rounded_twice_up, "up rounded to 9 bits, then to bf16", NULL)                                             \
    X(last_row, "an expert's last row gets the next expert's weights", NULL)                                    \
    X(first_row, "an expert's first row gets the expert before's weights", NULL)                                \
    X(rows_tail, "rows mod 8 of every expert are 0", NULL)                                                      \
    X(row_128, "row 128 of an expert repeats row 127", NULL)                                                    \
    X(up_by_first, "up uses the first expert's weights in every expert's last row", NULL)

#define MOE_NAME(name, what, admitted) MUTANT_##name,
#define MOE_ROW(name, what, admitted) {#name, what, admitted},
enum { MUTANT_NONE, MOE_MUTANTS(MOE_NAME) MUTANT_COUNT };
const struct honest_mutant honest_mutants[] = {MOE_MUTANTS(MOE_ROW){NULL, NULL, NULL}};

/* What a kernel is told, by value. hidden is [tokens, dim], weights [experts, dim, inter]. */
struct moe {
    int choice[HONEST_MAX_SWITCHES];
    int mutant;
    const uint16_t *hidden, *w_gate, *w_up;
    const int32_t *offsets;
    uint16_t *out;
    double *unrounded;
    int64_t tokens, dim, inter, experts;
};

HONEST_FN float float_of_bf16(uint16_t half) { return float_of((uint32_t)half << 16); }
HONEST_FN uint16_t bf16_of(float x)
{
    return x != x ? 0x7fff : (uint16_t)(bits_of(to_bf16(x)) >> 16);
}

/* --- sums --- */

enum format { FORMAT_NONE, FORMAT_BF16, FORMAT_FP16, FORMAT_11_BITS };

HONEST_FN float round_to(enum format format, float x)
{
    return format == FORMAT_BF16 ? to_bf16(x) : format == FORMAT_FP16 ? to_fp16(x)
         : format == FORMAT_11_BITS ? to_tf32(x) : x;
}

/* One sum over `terms` products, w's `stride` elements apart. A mutant lets term `odd` count `factor` times and
 * rounds the accumulator every `every` terms. */
struct sum {
    const uint16_t *x, *w;
    int64_t stride, terms;
    int engine, order, mutant;
    int64_t odd, every;
    float factor;
    enum format format;
};

HONEST_FN int64_t sum_step(const struct sum *s)
{
#ifndef __CUDACC__
    return s->engine == SUM_HOPPER ? 16 : s->engine == SUM_AMPERE ? 8 : 1;
#else
    (void)s;
    return 1;
#endif
}

HONEST_FN void sum_operands(const struct sum *s, int64_t i, float *x, float *w)
{
    *x = float_of_bf16(s->x[i]);
    *w = float_of_bf16(s->w[i * s->stride]);
    if (s->mutant == MUTANT_operands_fp16) {
        *x = to_fp16(*x);
        *w = to_fp16(*w);
    } else if (s->mutant == MUTANT_operands_7_bits) {
        *x = keep_bits(*x, 7, true);
    } else if (s->mutant == MUTANT_weights_e4m3) {
        *w = keep_bits(*w, 4, false);
    }
    if (i == s->odd)
        *x *= s->factor;
}

#ifndef __CUDACC__
HONEST_FN float sum_matrix_step(const struct sum *s, int64_t first, int64_t count, float acc)
{
    double product[16];
    int64_t n = 0;
    for (; n < count && first + n < s->terms; n++) {
        float x, w;
        sum_operands(s, first + n, &x, &w);
        product[n] = (double)x * (double)w;
    }
    return (float)matrix_step(acc, product, (int)n, s->engine == SUM_HOPPER ? 25 : 24, 23);
}
#endif

/* Steps from first on, `by` apart, `count` of them, in one accumulator. */
HONEST_FN float sum_chain(const struct sum *s, int64_t first, int64_t count, int64_t by)
{
    float acc = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t step = first + i * by;
#ifndef __CUDACC__
        if (s->engine != SUM_FP32) {
            acc = sum_matrix_step(s, step * sum_step(s), sum_step(s), acc);
            continue;
        }
#endif
        float x, w;
        sum_operands(s, step, &x, &w);
        acc = fmaf(x, w, acc);
        if (s->every && (step + 1) % s->every == 0)
            acc = round_to(s->format, acc);
    }
    return acc;
}

/* Halves of halves: partial[l] holds a finished sum over 2^l blocks while bit l of the count is set. */
HONEST_FN float sum_pairwise(const struct sum *s, int64_t steps, int64_t block)
{
    float partial[40], total = 0;
    int64_t done = 0;
    int level;
    for (int64_t first = 0; first < steps; first += block, done++) {
        float next = sum_chain(s, first, first + block < steps ? block : steps - first, 1);
        for (level = 0; done >> level & 1; level++)
            next = partial[level] + next;
        partial[level] = next;
    }
    for (level = 0; done >> level; level++)
        if (done >> level & 1)
            total = partial[level] + total;
    return total;
}

enum { LANES = 32, BLOCK = 32 };

HONEST_FN float sum_lanes(const struct sum *s, int64_t steps)
{
    float lane[LANES];
    for (int l = 0; l < LANES; l++)
        lane[l] = l < steps ? sum_chain(s, l, (steps - l + LANES - 1) / LANES, LANES) : 0;
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

HONEST_FN float sum_part(const struct sum *s)
{
    const int64_t steps = (s->terms + sum_step(s) - 1) / sum_step(s), block = BLOCK / sum_step(s);
    float total = 0;
    switch (s->order) {
    case ORDER_BACKWARD: return sum_chain(s, steps - 1, steps, -1);
    case ORDER_LANES: return sum_lanes(s, steps);
    case ORDER_PAIRWISE: return sum_pairwise(s, steps, block);
    case ORDER_BLOCKS:
        for (int64_t first = 0; first < steps; first += block)
            total += sum_chain(s, first, first + block < steps ? block : steps - first, 1);
        return total;
    default: return sum_chain(s, 0, steps, 1);
    }
}

HONEST_FN double sum_double(const struct sum *s)
{
    const bool backward = s->order == ORDER_BACKWARD;
    double total = 0;
    for (int64_t i = 0; i < s->terms; i++) {
        float x, w;
        sum_operands(s, backward ? s->terms - 1 - i : i, &x, &w);
        total += (double)x * (double)w;
    }
    return total;
}

/* What the mutant does to this sum. */
HONEST_FN void sum_mutate(struct sum *s, bool is_up)
{
    const int64_t last = s->terms - 1;
    s->odd = -1;
    s->factor = 0;
    switch (s->mutant) {
    case MUTANT_drop_first: s->odd = 0; break;
    case MUTANT_drop_last: s->odd = last; break;
    case MUTANT_drop_middle: s->odd = s->terms / 2; break;
    case MUTANT_drop_edge: s->odd = last / 64 * 64; break;
    case MUTANT_drop_tail: s->terms -= s->terms % 8; break;
    case MUTANT_drop_last_long: s->odd = s->terms > 4000 ? last : -1; break;
    case MUTANT_drop_middle_long: s->odd = 4096; break;
    case MUTANT_drop_last_gate: s->odd = is_up ? -1 : last; break;
    case MUTANT_drop_last_up: s->odd = is_up ? last : -1; break;
    case MUTANT_double_first: s->odd = 0, s->factor = 2; break;
    case MUTANT_double_last: s->odd = last, s->factor = 2; break;
    case MUTANT_double_edge: s->odd = 128, s->factor = 2; break;
    case MUTANT_drop_split_up: s->terms = is_up && s->terms > 1024 ? s->terms / 2 : s->terms; break;
    case MUTANT_bf16_accumulator: s->every = 1, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_32: s->every = 32, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_64: s->every = 64, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_128: s->every = 128, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_1024: s->every = 1024, s->format = FORMAT_BF16; break;
    case MUTANT_fp16_accumulator: s->every = 1, s->format = FORMAT_FP16; break;
    case MUTANT_fp16_every_32: s->every = 32, s->format = FORMAT_FP16; break;
    case MUTANT_fp16_every_128: s->every = 128, s->format = FORMAT_FP16; break;
    case MUTANT_tf32_accumulator: s->every = 1, s->format = FORMAT_11_BITS; break;
    case MUTANT_tf32_every_32: s->every = 32, s->format = FORMAT_11_BITS; break;
    default: break;
    }
}

HONEST_FN float sum_merge(int merge, float *part, int parts)
{
    float total = 0;
    if (merge == MERGE_TREE) {
        for (int width = 1; width < parts; width *= 2)
            for (int i = 0; i + width < parts; i += 2 * width)
                part[i] += part[i + width];
        return part[0];
    }
    for (int i = 0; i < parts; i++)
        total += part[merge == MERGE_BACKWARD ? parts - 1 - i : i];
    return total;
}

enum { MAX_SPLIT = 16 };

HONEST_FN int split_of(const struct moe *m)
{
    const int parts[] = {1, 2, 5, MAX_SPLIT};
    switch (m->mutant) {
    case MUTANT_split_bf16:
    case MUTANT_split_fp16: return 2;
    case MUTANT_split_8_bf16: return 8;
    default: return parts[m->choice[SPLIT]];
    }
}

/* The terms of one part: a multiple of 16, so that no tile is cut. */
HONEST_FN int64_t split_length(int64_t terms, int parts)
{
    return (terms + 16 * parts - 1) / (16 * parts) * 16;
}

/* x . w over all of hidden_dim. */
HONEST_FN double moe_dot(const struct moe *m, bool is_up, const uint16_t *x, const uint16_t *w, int64_t stride)
{
    struct sum whole = {x, w, stride, m->dim, m->choice[SUM], m->choice[ORDER], m->mutant, -1, 0, 0, FORMAT_NONE};
    const int parts = split_of(m);
    float part[MAX_SPLIT];
    if (is_up && m->choice[UP_ORDER])
        whole.order = ORDER_FORWARD;
    sum_mutate(&whole, is_up);
    if (whole.engine == SUM_DOUBLE)
        return sum_double(&whole);
    const int64_t length = split_length(whole.terms, parts);
    for (int p = 0; p < parts; p++) {
        struct sum s = whole;
        const int64_t first = p * length, left = whole.terms - first;
        s.x += first;
        s.w += first * stride;
        s.odd -= first;
        s.terms = left < 0 ? 0 : left < length ? left : length;
        part[p] = sum_part(&s);
        if (m->mutant == MUTANT_split_bf16 || m->mutant == MUTANT_split_8_bf16)
            part[p] = to_bf16(part[p]);
        else if (m->mutant == MUTANT_split_fp16)
            part[p] = to_fp16(part[p]);
    }
    return sum_merge(m->choice[MERGE], part, parts);
}

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
    case MUTANT_exp_bf16:
    case MUTANT_all_bf16: return to_bf16(e);
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

/* On the host the hardware's tanh is one with 11 significant bits, as far off as it may be. */
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

HONEST_FN float sigmoid_plain(float g) { return 1 / (1 + expf(-g)); }
HONEST_FN float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* silu as a mutant has it; false: it has it as it is. */
HONEST_FN bool silu_mutant(int mutant, float g, float *silu)
{
    switch (mutant) {
    case MUTANT_relu: *silu = g > 0 ? g : 0; return true;
    case MUTANT_hard_swish: *silu = g * clamp(g + 3, 0, 6) / 6; return true;
    case MUTANT_gelu: *silu = 0.5f * g * (1 + erff(g * 0.70710678f)); return true;
    case MUTANT_quick_gelu: *silu = g * sigmoid_plain(1.702f * g); return true;
    case MUTANT_beta: *silu = g * sigmoid_plain((1 + 0x1p-8f) * g); return true;
    case MUTANT_beta_fine: *silu = g * sigmoid_plain((1 + 0x1p-10f) * g); return true;
    case MUTANT_clamped_20: g = clamp(g, -20, 20); *silu = g * sigmoid_plain(g); return true;
    case MUTANT_clamped_10: g = clamp(g, -10, 10); *silu = g * sigmoid_plain(g); return true;
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

/* All after the gate in double, rounded to single before what follows. */
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
    return m->choice[EXPONENTIAL] == EXP_DOUBLE ? moe_product_double(m, g, u) : moe_product(m, (float)g, (float)u);
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
    const bool swapped = m->mutant == MUTANT_swapped ||
                         (m->mutant == MUTANT_swapped_tile && col >= (m->inter - 1) / 16 * 16);
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
        sum[part] = moe_dot(m, part == 1, m->hidden + source * m->dim, dense ? packed[part] : w, dense ? 1 : m->inter);
    }
    moe_store(m, row, col, sum[0], sum[1]);
}

#endif
