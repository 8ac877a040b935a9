/* gemm_w4a16 with switches, y[i,j] = sum_k x[i,k] (q[k,j] - zero) scale, element by element, shared by
 * gemm_w4a16.c and gemm_w4a16.cu. x (q - zero) scale has 21 bits, so in fp32 only sums and their scaling
 * round. */
#include "arithmetic.h"
#include "honest.h"

enum { ORDER, CHAINS, BLOCK, SPLIT, MERGE, ENGINE, WEIGHT, ZERO, TOTAL, PLAIN };
enum { UP, DOWN, ALTERNATE };
enum { FUSED, KAHAN, DOUBLE, UNIT_A, UNIT_B };
enum { WHOLE, DIFFERENCE, TWO_TERMS, ROUNDED, SCALED, FOLDED, FOLDED_END };
enum { INNER, OUTER };
enum { IN_FMA, IN_STEPS, IN_DOUBLE };

#ifdef __CUDACC__
#define UNIT_NAMES "mma16"
#define UNIT_SINCE 80
#else
#define UNIT_NAMES "mma16_8", "mma16_16"
#define UNIT_SINCE 80, 90
#endif

const struct honest_switch honest_switches[] = {
    {"order", {"up", "down", "alternate"}, {0}},
    {"chains", {"1", "2", "8", "32"}, {0}}, /* that take the terms of a block in turn, folded in halves */
    {"block", {"all", "16", "32", "128"}, {0}},
    {"split", {"1", "2", "3", "8", "16"}, {0}}, /* parts of k, which need not start with a group */
    {"merge", {"sequence", "tree"}, {0}},
    {"engine", {"fused", "kahan", "double", UNIT_NAMES}, {0, 0, 0, UNIT_SINCE}},
    /* (q - z) s; q s - z s; x q s and -x z s as terms; rounded to bf16; sums of x (q - z) times s by group;
     * zero points from the sum of x, by group or at the end of a part. A matrix unit takes operands that fit
     * bf16. */
    {"weight", {"whole", "difference", "two_terms", "rounded", "scaled", "folded", "folded_end"}, {0}},
    {"zero", {"inner", "outer"}, {0}},          /* folded: s (sum - z sum x), s sum - (s z) sum x */
    {"total", {"fma", "steps", "double"}, {0}}, /* over groups */
    {"plain", {"like", "double"}, {0}},         /* the sum of x */
    {NULL, {NULL}, {0}}};

#define MUTANTS(X)                                                                                           \
    X(drop_first, "the first term is missing", NULL)                                                         \
    X(drop_last, "the last term is missing", NULL)                                                           \
    X(drop_middle, "term k / 2 is missing", NULL)                                                            \
    X(drop_group, "the first term of the last group is missing", NULL)                                       \
    X(drop_tail, "the last k % 8 terms are missing", NULL)                                                   \
    X(double_last, "the last term counts twice", NULL)                                                       \
    X(double_seam, "two halves of k share a term", NULL)                                                     \
    X(late_x, "the last term takes its neighbour's x", NULL)                                                 \
    X(nibbles_last, "the nibbles of the last byte are swapped", NULL)                                        \
    X(nibbles_16, "the nibbles of every eighth byte are swapped", NULL)                                      \
    X(nibble_signed, "high nibbles are sign-extended", NULL)                                                 \
    X(difference_int4, "q - zero wraps in 4 bits", NULL)                                                     \
    X(zero_last, "the zero point of the last group is off by one", NULL)                                     \
    X(zero_plus_one, "every zero point is off by one, as an older format stores it", NULL)                   \
    X(zero_8, "the zero point is 8", NULL)                                                                   \
    X(zero_column, "the zero point of the first of 8 columns", NULL)                                         \
    X(zero_scaled_bf16, "zero times scale is rounded to bf16", NULL)                                         \
    X(group_before, "the last, ragged group takes the scale and zero of the one before", NULL)               \
    X(group_late, "a group's first row takes the scale and zero of the one before", NULL)                    \
    X(group_first, "the last group takes the zero of the first", NULL)                                       \
    X(scale_seven_bits, "the scale loses its last bit", NULL)                                                \
    X(scale_fp16, "the scale passes through fp16", NULL)                                                     \
    X(scale_next, "the scale of the next column", NULL)                                                      \
    X(x_fp16, "x passes through fp16", NULL)                                                                 \
    X(x_seven_bits, "x loses its last bit", NULL)                                                            \
    X(x_fp8, "x with 3 fraction bits", NULL)                                                                 \
    X(weight_fp16, "the weight passes through fp16", NULL)                                                   \
    X(weight_fp8, "the weight with 3 fraction bits", NULL)                                                   \
    X(weight_seven_bits, "the weight is rounded to 7 bits", NULL)                                            \
    X(weight_truncated, "the weight is truncated to bf16", NULL)                                             \
    X(weight_bf16_steps, "q scale and zero scale are rounded to bf16, and their difference", NULL)           \
    X(sum_bf16, "the sum is bf16", NULL)                                                                     \
    X(sum_bf16_8, "the sum is rounded to bf16 every 8 terms", NULL)                                          \
    X(sum_bf16_128, "the sum is rounded to bf16 every 128 terms", NULL)                                      \
    X(sum_fp16, "the sum is fp16", NULL)                                                                     \
    X(sum_tf32_128, "the sum is rounded to tf32 every 128 terms", NULL)                                      \
    X(sum_tf32_once, "the sum is rounded to tf32 at the end", NULL)                                          \
    X(pairs_bf16, "two products are added in bf16", NULL)                                                    \
    X(groups_bf16, "sums of groups are rounded to bf16", NULL)                                               \
    X(groups_fp16, "sums of groups are rounded to fp16", NULL)                                               \
    X(plain_bf16, "the sum of x is rounded to bf16", NULL)                                                   \
    X(plain_fp16, "the sum of x is rounded to fp16", NULL)                                                   \
    X(plain_short, "the sum of x leaves out the last row of w", NULL)                                        \
    X(parts_bf16, "four partial sums are stored in bf16", NULL)                                              \
    X(part_lost, "the last of 16 partial sums is never added", NULL)                                         \
    X(out_2_7, "y times 1 + 2^-7", NULL)                                                                     \
    X(out_2_10, "y times 1 + 2^-10", NULL)                                                                   \
    X(out_2_12, "y times 1 + 2^-12", NULL)                                                                   \
    X(out_truncated, "y is truncated to bf16", NULL)                                                         \
    X(out_fp16, "y is rounded to fp16 on its way", NULL)                                                     \
    X(out_thousandth, "one element in a thousand is off by 2^-7", NULL)

#define MUTANT_ENTRY(name, what, admitted) {#name, what, admitted},
const struct honest_mutant honest_mutants[] = {MUTANTS(MUTANT_ENTRY){NULL, NULL, NULL}};
#define MUTANT_NUMBER(name, what, admitted) M_##name,
enum { HONEST, MUTANTS(MUTANT_NUMBER) };

enum { MAX_PARTS = 16, MAX_CHAINS = 32 };

/* x is [m, k], w_q [k/2, n], scales and zeros [ceil(k/group), n]; bf16 as its bits. */
struct w4 {
    const uint16_t *x;
    const uint8_t *w_q;
    const uint16_t *scales, *zeros;
    int64_t m, n, k, group;
    int choice[HONEST_MAX_SWITCHES], mutant;
    double *unrounded;
};

HONEST_FN int w4_parts(const struct w4 *p)
{
    const int parts[] = {1, 2, 3, 8, 16};
    return p->mutant == M_parts_bf16    ? 4
           : p->mutant == M_double_seam ? 2
           : p->mutant == M_part_lost   ? 16
                                        : parts[p->choice[SPLIT]];
}

HONEST_FN int64_t w4_block(const struct w4 *p)
{
    const int64_t block[] = {p->k, 16, 32, 128};
    return block[p->choice[BLOCK]];
}

/* The form that weights take; some faults and some engines have one of their own. */
HONEST_FN int w4_form(const struct w4 *p)
{
    const int form = p->choice[WEIGHT];
    if (p->mutant == M_groups_bf16 || p->mutant == M_groups_fp16)
        return SCALED;
    if (p->mutant == M_plain_bf16 || p->mutant == M_plain_fp16 || p->mutant == M_plain_short)
        return FOLDED;
    if (p->choice[ENGINE] < UNIT_A || form >= ROUNDED)
        return form;
    return form == TWO_TERMS ? FOLDED : ROUNDED;
}

/* --- operands --- */

HONEST_FN float w4_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

HONEST_FN float w4_x(const struct w4 *p, int64_t i, int64_t k)
{
    const int64_t depth = p->mutant == M_late_x && k == p->k - 1 ? k - 1 : k;
    const float x = w4_bf16(p->x[i * p->k + depth]);
    switch (p->mutant) {
    case M_x_fp16: return to_fp16(x);
    case M_x_seven_bits: return keep_bits(x, 7, false);
    case M_x_fp8: return keep_bits(x, 4, false);
    default: return x;
    }
}

HONEST_FN float w4_code(const struct w4 *p, int64_t k, int64_t j)
{
    const uint8_t byte = p->w_q[k / 2 * p->n + j];
    int high = (int)(k % 2);
    if ((p->mutant == M_nibbles_last && k >= p->k - 2) || (p->mutant == M_nibbles_16 && k / 2 % 8 == 7))
        high = 1 - high;
    const int q = high ? byte >> 4 : byte & 15;
    return (float)(p->mutant == M_nibble_signed && high && q > 7 ? q - 16 : q);
}

/* Where the scale and zero of row k and column j lie. */
HONEST_FN int64_t w4_place(const struct w4 *p, int64_t k, int64_t j)
{
    int64_t g = k / p->group;
    if (p->mutant == M_group_before && p->k % p->group != 0 && g > 0 && g == (p->k - 1) / p->group)
        g--;
    if (p->mutant == M_group_late && g > 0 && k % p->group == 0)
        g--;
    return g * p->n + j;
}

HONEST_FN float w4_scale(const struct w4 *p, int64_t k, int64_t j)
{
    const int64_t column = p->mutant == M_scale_next && j + 1 < p->n ? j + 1 : j;
    const float scale = w4_bf16(p->scales[w4_place(p, k, column)]);
    return p->mutant == M_scale_fp16         ? to_fp16(scale)
           : p->mutant == M_scale_seven_bits ? keep_bits(scale, 7, true)
                                             : scale;
}

HONEST_FN float w4_zero(const struct w4 *p, int64_t k, int64_t j)
{
    const int last = k / p->group == (p->k - 1) / p->group;
    const float zero = w4_bf16(p->zeros[w4_place(p, k, j)]);
    switch (p->mutant) {
    case M_zero_last: return zero + (float)last;
    case M_zero_plus_one: return zero + 1;
    case M_zero_8: return 8;
    case M_zero_column: return w4_bf16(p->zeros[w4_place(p, k, j / 8 * 8)]);
    case M_group_first: return last ? w4_bf16(p->zeros[j]) : zero;
    default: return zero;
    }
}

/* (q - z) s as the form has it. */
HONEST_FN float w4_weight(const struct w4 *p, int64_t k, int64_t j)
{
    const float q = w4_code(p, k, j), s = w4_scale(p, k, j), z = w4_zero(p, k, j), w = (q - z) * s;
    switch (p->mutant) {
    case M_difference_int4: return (float)((((int)(q - z) + 8) & 15) - 8) * s;
    case M_zero_scaled_bf16: return q * s - to_bf16(z * s);
    case M_weight_fp16: return to_fp16(w);
    case M_weight_fp8: return keep_bits(w, 4, false);
    case M_weight_seven_bits: return keep_bits(w, 7, false);
    case M_weight_truncated: return keep_bits(w, 8, true);
    case M_weight_bf16_steps: return to_bf16(to_bf16(q * s) - to_bf16(z * s));
    default: break;
    }
    return w4_form(p) == ROUNDED ? to_bf16(w) : w4_form(p) == DIFFERENCE ? fmaf(q, s, -(z * s)) : w;
}

/* The factor of x in a sum. */
enum factor { BY_WEIGHT, BY_SCALED_CODE, BY_SCALED_ZERO, BY_DIFFERENCE, BY_CODE, BY_ONE };

HONEST_FN float w4_factor(const struct w4 *p, enum factor by, int64_t k, int64_t j)
{
    switch (by) {
    case BY_WEIGHT: return w4_weight(p, k, j);
    case BY_SCALED_CODE: return w4_code(p, k, j) * w4_scale(p, k, j);
    case BY_SCALED_ZERO: return -w4_zero(p, k, j) * w4_scale(p, k, j);
    case BY_DIFFERENCE: return w4_code(p, k, j) - w4_zero(p, k, j);
    case BY_CODE: return w4_code(p, k, j);
    default: return 1;
    }
}

HONEST_FN int w4_times(const struct w4 *p, int64_t k, enum factor by)
{
    switch (p->mutant) {
    case M_drop_first: return k != 0;
    case M_drop_last: return k != p->k - 1;
    case M_drop_middle: return k != p->k / 2;
    case M_drop_group: return k != (p->k - 1) / p->group * p->group;
    case M_drop_tail: return k < p->k / 8 * 8;
    case M_double_last: return k == p->k - 1 ? 2 : 1;
    case M_plain_short: return by != BY_ONE || k != p->k - 1;
    default: return 1;
    }
}

/* --- sums --- */

HONEST_FN double w4_add(const struct w4 *p, double a, double b)
{
    return p->choice[ENGINE] == DOUBLE ? a + b : (double)((float)a + (float)b);
}

/* The t-th of the terms from a to b - 1. */
HONEST_FN int64_t w4_at(const struct w4 *p, int64_t a, int64_t b, int64_t t)
{
    const int64_t even = (b - a + 1) / 2;
    switch (p->choice[ORDER]) {
    case DOWN: return b - 1 - t;
    case ALTERNATE: return t < even ? a + 2 * t : a + 2 * (t - even) + 1;
    default: return a + t;
    }
}

HONEST_FN float w4_carried(const struct w4 *p, float sum, int64_t t)
{
    switch (p->mutant) {
    case M_sum_bf16: return to_bf16(sum);
    case M_sum_bf16_8: return t % 8 == 7 ? to_bf16(sum) : sum;
    case M_sum_bf16_128: return t % 128 == 127 ? to_bf16(sum) : sum;
    case M_sum_fp16: return to_fp16(sum);
    case M_sum_tf32_128: return t % 128 == 127 ? to_tf32(sum) : sum;
    default: return sum;
    }
}

struct chain {
    double sum;
    float lost; /* Kahan's */
};

HONEST_FN void w4_accumulate(const struct w4 *p, struct chain *c, float x, float w, int64_t t)
{
    const float sum = (float)c->sum;
    if (p->choice[ENGINE] == DOUBLE) {
        c->sum += (double)x * w;
    } else if (p->choice[ENGINE] == KAHAN) {
        const float term = fmaf(x, w, -c->lost), next = sum + term;
        c->lost = (next - sum) - term;
        c->sum = next;
    } else {
        c->sum = w4_carried(p, fmaf(x, w, sum), t);
    }
}

/* Terms a to b - 1 in chains. */
HONEST_FN double w4_chained(const struct w4 *p, int64_t i, int64_t j, int64_t a, int64_t b, enum factor by)
{
    const int chains[] = {1, 2, 8, 32}, count = chains[p->choice[CHAINS]];
    const int two = by == BY_WEIGHT && w4_form(p) == TWO_TERMS;
    struct chain chain[MAX_CHAINS] = {{0, 0}};
    for (int64_t t = 0; t < b - a; t++) {
        const int64_t k = w4_at(p, a, b, t);
        const float x = w4_x(p, i, k);
        for (int times = w4_times(p, k, by); times > 0; times--) {
            w4_accumulate(p, &chain[t % count], x, w4_factor(p, two ? BY_SCALED_CODE : by, k, j), t);
            if (two)
                w4_accumulate(p, &chain[t % count], x, w4_factor(p, BY_SCALED_ZERO, k, j), t);
        }
    }
    for (int half = count / 2; half > 0; half /= 2)
        for (int c = 0; c < half; c++)
            chain[c].sum = w4_add(p, chain[c].sum, chain[c + half].sum);
    return chain[0].sum;
}

/* Two products at a time in bf16, as packed multiply-adds have it. */
HONEST_FN double w4_paired(const struct w4 *p, int64_t i, int64_t j, int64_t a, int64_t b)
{
    float sum = 0;
    for (int64_t k = a; k + 1 < b; k += 2)
        sum += to_bf16(w4_x(p, i, k) * w4_weight(p, k, j) + w4_x(p, i, k + 1) * w4_weight(p, k + 1, j));
    return sum;
}

/* Terms a to b - 1 in a 16-bit matrix unit, `count` products a step. */
HONEST_FN double w4_stepped(const struct w4 *p, int64_t i, int64_t j, int64_t a, int64_t b, enum factor by)
{
    const int count = p->choice[ENGINE] == UNIT_A ? 8 : 16, fraction = count == 8 ? 24 : 25;
    double sum = 0, product[16];
    for (int64_t t = 0; t < b - a; t += count) {
        int n = 0;
        for (; n < count && t + n < b - a; n++) {
            const int64_t k = w4_at(p, a, b, t + n);
            product[n] = (double)w4_x(p, i, k) * w4_factor(p, by, k, j);
        }
        sum = matrix_step(sum, product, n, fraction, 23);
    }
    return sum;
}

/* Terms a to b - 1, blocks of them added in fp32. */
HONEST_FN double w4_sum(const struct w4 *p, int64_t i, int64_t j, int64_t a, int64_t b, enum factor by)
{
    const int64_t block = w4_block(p);
    double sum = 0;
    if (p->mutant == M_pairs_bf16)
        return w4_paired(p, i, j, a, b);
    for (; a < b; a += block) {
        const int64_t end = b - a < block ? b : a + block;
        sum = w4_add(p, sum,
                     p->choice[ENGINE] >= UNIT_A ? w4_stepped(p, i, j, a, end, by)
                                                 : w4_chained(p, i, j, a, end, by));
    }
    return sum;
}

/* The sum of x, once for all columns. */
HONEST_FN double w4_plain(const struct w4 *p, int64_t i, int64_t a, int64_t b)
{
    double sum = 0;
    if (!p->choice[PLAIN])
        return w4_sum(p, i, 0, a, b, BY_ONE);
    for (int64_t k = a; k < b; k++)
        sum += (double)w4_x(p, i, k);
    return sum;
}

/* --- groups --- */

/* For a part of k: the sum, and the final correction for the zero points. */
struct total {
    double sum, zero;
};

/* sum + f v, in one rounding, in two, or in double. */
HONEST_FN double w4_multiply_add(const struct w4 *p, double sum, float f, double v)
{
    if (p->choice[TOTAL] == IN_DOUBLE)
        return sum + (double)f * v;
    return p->choice[TOTAL] == IN_FMA ? (double)fmaf(f, (float)v, (float)sum)
                                      : (double)((float)sum + (float)((double)f * (double)(float)v));
}

/* A group's sum, and its sum of x, join the total. */
HONEST_FN void w4_join(const struct w4 *p, struct total *t, double sum, double plain, float s, float z)
{
    const int form = w4_form(p);
    if (p->mutant == M_groups_bf16 || p->mutant == M_groups_fp16)
        sum = p->mutant == M_groups_bf16 ? to_bf16((float)sum) : to_fp16((float)sum);
    if (p->mutant == M_plain_bf16 || p->mutant == M_plain_fp16)
        plain = p->mutant == M_plain_bf16 ? to_bf16((float)plain) : to_fp16((float)plain);
    if (form == FOLDED && p->choice[ZERO] == INNER) {
        t->sum = w4_multiply_add(p, t->sum, s, w4_multiply_add(p, sum, -z, plain));
        return;
    }
    t->sum = w4_multiply_add(p, t->sum, s, sum);
    if (form == FOLDED)
        t->sum = w4_multiply_add(p, t->sum, -(s * z), plain);
    else if (form == FOLDED_END)
        t->zero = w4_multiply_add(p, t->zero, s * z, plain);
}

HONEST_FN double w4_closed(const struct w4 *p, const struct total *t)
{
    return w4_form(p) == FOLDED_END ? w4_add(p, t->sum, -t->zero) : t->sum;
}

/* Where part s of k starts. */
HONEST_FN int64_t w4_start(const struct w4 *p, int s)
{
    const int parts = w4_parts(p);
    const int64_t length = (p->k + parts - 1) / parts;
    return s * length < p->k ? s * length : p->k;
}

/* The end of the stretch from a on that one scale covers, `end` at most. */
HONEST_FN int64_t w4_group_end(const struct w4 *p, int64_t a, int64_t end)
{
    const int64_t next = (a / p->group + 1) * p->group;
    return next < end ? next : end;
}

HONEST_FN double w4_part(const struct w4 *p, int64_t i, int64_t j, int s)
{
    const int form = w4_form(p);
    int64_t a = w4_start(p, s), end = w4_start(p, s + 1);
    struct total total = {0, 0};
    if (p->mutant == M_double_seam && s == 0 && end < p->k)
        end++;
    if (form < SCALED)
        return w4_sum(p, i, j, a, end, BY_WEIGHT);
    while (a < end) {
        const int64_t next = w4_group_end(p, a, end);
        const double sum = w4_sum(p, i, j, a, next, form == SCALED ? BY_DIFFERENCE : BY_CODE);
        const double plain = form == SCALED ? 0 : w4_plain(p, i, a, next);
        w4_join(p, &total, sum, plain, w4_scale(p, a, j), w4_zero(p, a, j));
        a = next;
    }
    return w4_closed(p, &total);
}

/* --- from parts to the output --- */

HONEST_FN double w4_merged(const struct w4 *p, double part[MAX_PARTS])
{
    const int parts = w4_parts(p), count = p->mutant == M_part_lost ? parts - 1 : parts;
    for (int s = 0; s < parts && p->mutant == M_parts_bf16; s++)
        part[s] = to_bf16((float)part[s]);
    if (p->choice[MERGE]) {
        for (int reach = 1; reach < count; reach *= 2)
            for (int s = 0; s + reach < count; s += 2 * reach)
                part[s] = w4_add(p, part[s], part[s + reach]);
    } else {
        for (int s = 1; s < count; s++)
            part[0] = w4_add(p, part[0], part[s]);
    }
    return part[0];
}

HONEST_FN double w4_faulty_output(const struct w4 *p, double y, int64_t index)
{
    switch (p->mutant) {
    case M_sum_tf32_once: return to_tf32((float)y);
    case M_out_2_7: return y * (1 + 0x1p-7);
    case M_out_2_10: return y * (1 + 0x1p-10);
    case M_out_2_12: return y * (1 + 0x1p-12);
    case M_out_truncated: return keep_bits((float)y, 8, true);
    case M_out_fp16: return to_fp16((float)y);
    case M_out_thousandth: return index % 1000 == 500 ? (double)to_bf16((float)y) * (1 + 0x1p-7) : y;
    default: return y;
    }
}

/* Output (i, j) from its partial sums. */
HONEST_FN uint16_t w4_finish(const struct w4 *p, int64_t i, int64_t j, double part[MAX_PARTS])
{
    const double y = w4_faulty_output(p, w4_merged(p, part), i * p->n + j);
    if (p->unrounded)
        p->unrounded[i * p->n + j] = y;
    return (uint16_t)(bits_of(to_bf16((float)y)) >> 16);
}

HONEST_FN uint16_t w4_element(const struct w4 *p, int64_t i, int64_t j)
{
    double part[MAX_PARTS];
    for (int s = 0; s < w4_parts(p); s++)
        part[s] = w4_part(p, i, j, s);
    return w4_finish(p, i, j, part);
}
