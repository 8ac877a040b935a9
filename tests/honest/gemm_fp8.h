/* gemm_fp8 with switches, y[i,j] = scale[j] sum_k x[i,k] weight[j,k], element by element, shared by
 * gemm_fp8.c and gemm_fp8.cu. A product of two e4m3 values has 8 bits, so only sums and the scale round. */
#include "arithmetic.h"
#include "honest.h"

enum { ORDER, CHAINS, BLOCK, SPLIT, MERGE, ENGINE, SCALE, SCALE_IN, ROUND };
enum { UP, DOWN, ALTERNATE };
enum { FUSED, UNFUSED, KAHAN, DOUBLE, UNIT_A, UNIT_B, UNIT_C };
enum { AFTER, PARTIAL, WEIGHT, PRODUCT };

/* Matrix units. The host emulates bit by bit the 16-bit ones of Ampere and Hopper and the fp8 one of Hopper.
 * A GPU uses its own, 16-bit and fp8. An admitted 13-bit sum may be promoted to fp32 every `block` terms. */
#ifdef __CUDACC__
#define UNIT_NAMES "mma16", "mma8"
#define UNIT_SINCE 80, 90
#else
#define UNIT_NAMES "mma16_8", "mma16_16", "mma8_32"
#define UNIT_SINCE 80, 90, 90
#endif

const struct honest_switch honest_switches[] = {
    {"order", {"up", "down", "alternate"}, {0}}, /* for the terms of a block */
    {"chains", {"1", "2", "8", "32"}, {0}},      /* that take its terms in turn, folded in halves */
    {"block", {"all", "32", "64", "128", "512"}, {0}},
    {"split", {"1", "2", "3", "8", "16"}, {0}}, /* parts of k, merged at the end */
    {"merge", {"sequence", "tree"}, {0}},
    {"engine", {"fused", "unfused", "kahan", "double", UNIT_NAMES}, {0, 0, 0, 0, UNIT_SINCE}},
    {"scale", {"after", "partial", "weight", "product"}, {0}}, /* the factor that it multiplies */
    {"scale_in", {"fp32", "double"}, {0}},
    {"round", {"once", "twice"}, {0}}, /* twice: the sum to bf16 before the scale, which then comes after */
    {NULL, {NULL}, {0}}};

#define MUTANTS(X)                                                                                           \
    X(drop_first, "the first term is missing", NULL)                                                         \
    X(drop_last, "the last term is missing", NULL)                                                           \
    X(drop_middle, "term k / 2 is missing", NULL)                                                            \
    X(drop_step, "the first term of the last step of 32 is missing", NULL)                                   \
    X(drop_tail, "the last k % 4 terms are missing", NULL)                                                   \
    X(double_last, "the last term counts twice, as a clamped load has it", NULL)                             \
    X(double_seam, "two halves of k share a term", NULL)                                                     \
    X(double_tile, "term 128, 256, .. of every tile counts twice", NULL)                                     \
    X(late_weight, "the last term takes its neighbour's weight", NULL)                                       \
    X(next_row, "the last term takes the weight of the next row", NULL)                                      \
    X(x_two_bits, "x with 2 fraction bits, as in e5m2", NULL)                                                \
    X(x_flushed, "subnormals of x are 0", NULL)                                                              \
    X(weight_subnormal, "subnormals of weight count half", NULL)                                             \
    X(ieee_top, "values from 256 on are infinite, as IEEE formats have it", NULL)                            \
    X(nan_480, "0x7f is 480", NULL)                                                                          \
    X(nan_minus_480, "0xff is -480", NULL)                                                                   \
    X(nan_zero, "NaN is 0", NULL)                                                                            \
    X(zero_skipped, "a zero in x skips its term, NaN or not", NULL)                                          \
    X(sum_bf16, "the sum is bf16", NULL)                                                                     \
    X(sum_bf16_32, "the sum is rounded to bf16 every 32 terms", NULL)                                        \
    X(sum_bf16_128, "the sum is rounded to bf16 every 128 terms", NULL)                                      \
    X(sum_fp16, "the sum is fp16", NULL)                                                                     \
    X(sum_fp16_128, "the sum is rounded to fp16 every 128 terms", NULL)                                      \
    X(sum_tf32, "the sum is tf32", NULL)                                                                     \
    X(sum_tf32_128, "the sum is rounded to tf32 every 128 terms", NULL)                                      \
    X(sum_tf32_once, "the sum is rounded to tf32 at the end", NULL)                                          \
    X(unit_12_bits, "a matrix unit that keeps 12 bits",                                                      \
      "where fp8 units are admitted: exact below 2^13, as sums of the 13-bit one are only taken to be")      \
    X(unit_11_bits, "a matrix unit that keeps 11 bits", NULL)                                                \
    X(unit_10_bits, "a matrix unit that keeps 10 bits", NULL)                                                \
    X(pairs_fp16, "two products are added in fp16", NULL)                                                    \
    X(parts_bf16, "four partial sums are stored in bf16", NULL)                                              \
    X(parts_fp16, "four partial sums are stored in fp16", NULL)                                              \
    X(part_lost, "the last of 16 partial sums is never added", NULL)                                         \
    X(scale_bf16, "the scale is rounded to bf16", NULL)                                                      \
    X(scale_tf32, "the scale is rounded to tf32", NULL)                                                      \
    X(scale_fp16, "the scale is rounded to fp16", NULL)                                                      \
    X(scale_next, "the scale of the next column", NULL)                                                      \
    X(scale_of_8, "the scale of the first of 8 columns", NULL)                                               \
    X(scaled_bf16, "weight times scale is rounded to bf16", NULL)                                            \
    X(out_2_7, "y times 1 + 2^-7", NULL)                                                                     \
    X(out_2_10, "y times 1 + 2^-10", NULL)                                                                   \
    X(out_2_12, "y times 1 + 2^-12", NULL)                                                                   \
    X(out_truncated, "y is truncated to bf16", NULL)                                                         \
    X(out_fp16, "y is rounded to fp16 on its way", NULL)                                                     \
    X(out_thousandth, "one element in a thousand is off by 2^-8", NULL)                                      \
    X(out_absolute, "one element in a thousand has the wrong sign", NULL)

#define MUTANT_ENTRY(name, what, admitted) {#name, what, admitted},
const struct honest_mutant honest_mutants[] = {MUTANTS(MUTANT_ENTRY){NULL, NULL, NULL}};
#define MUTANT_NUMBER(name, what, admitted) M_##name,
enum { HONEST, MUTANTS(MUTANT_NUMBER) };

enum { MAX_PARTS = 16, MAX_CHAINS = 32 };

/* x is [m, k], weight [n, k], scale [n]; e4m3 as bytes. */
struct fp8 {
    const uint8_t *x, *weight;
    const float *scale;
    int64_t m, n, k;
    int choice[HONEST_MAX_SWITCHES], mutant;
    double *unrounded;
};

/* The number that a switch's value names. */
HONEST_FN int fp8_chains(const struct fp8 *p)
{
    const int chains[] = {1, 2, 8, 32};
    return chains[p->choice[CHAINS]];
}

HONEST_FN int64_t fp8_block(const struct fp8 *p)
{
    const int64_t block[] = {p->k, 32, 64, 128, 512};
    return block[p->choice[BLOCK]];
}

HONEST_FN int fp8_parts(const struct fp8 *p)
{
    const int parts[] = {1, 2, 3, 8, 16};
    return p->mutant == M_parts_bf16 || p->mutant == M_parts_fp16 ? 4
           : p->mutant == M_double_seam                           ? 2
           : p->mutant == M_part_lost                             ? 16
                                                                  : parts[p->choice[SPLIT]];
}

/* Whether the scale has been applied before the parts are merged. */
HONEST_FN int fp8_scaled_in(const struct fp8 *p)
{
    const int where = p->choice[ROUND] ? AFTER : p->choice[SCALE];
    return where > PARTIAL && p->choice[ENGINE] >= UNIT_A ? PARTIAL : where;
}

/* --- operands --- */

/* The seven bits of magnitude are a float's exponent and fraction, up to the bias: 127 - 7 = 120. */
HONEST_FN float fp8_value(uint8_t byte)
{
    const uint32_t magnitude = byte & 0x7fu;
    const float value = magnitude == 0x7f ? NAN : float_of(magnitude << 20) * 0x1p120f;
    return byte & 0x80 ? -value : value;
}

HONEST_FN float fp8_damaged(int mutant, uint8_t byte, int is_x)
{
    const float value = fp8_value(byte);
    const float size = fabsf(value);
    switch (mutant) {
    case M_x_two_bits: return is_x ? keep_bits(value, 3, false) : value;
    case M_x_flushed: return is_x && size < 0x1p-6f ? 0 : value;
    case M_weight_subnormal: return !is_x && size < 0x1p-6f ? value / 2 : value;
    case M_ieee_top: return size >= 256 ? copysignf(INFINITY, value) : value;
    case M_nan_480: return byte == 0x7f ? 480 : value;
    case M_nan_minus_480: return byte == 0xff ? -480 : value;
    case M_nan_zero: return value != value ? 0 : value;
    default: return value;
    }
}

struct factors {
    float x, w;
};

HONEST_FN struct factors fp8_factors(const struct fp8 *p, int64_t i, int64_t j, int64_t k)
{
    const int last = k == p->k - 1;
    const int64_t depth = p->mutant == M_late_weight && last && k > 0 ? k - 1 : k;
    const int64_t column = p->mutant == M_next_row && last && j + 1 < p->n ? j + 1 : j;
    struct factors f = {fp8_damaged(p->mutant, p->x[i * p->k + k], 1),
                        fp8_damaged(p->mutant, p->weight[column * p->k + depth], 0)};
    if (p->mutant == M_scaled_bf16)
        f.w = to_bf16(f.w * p->scale[j]);
    else if (fp8_scaled_in(p) == WEIGHT)
        f.w *= p->scale[j];
    return f;
}

/* How often a term counts. */
HONEST_FN int fp8_times(const struct fp8 *p, int64_t k, float x)
{
    const int64_t n = p->k;
    switch (p->mutant) {
    case M_drop_first: return k != 0;
    case M_drop_last: return k != n - 1;
    case M_drop_middle: return k != n / 2;
    case M_drop_step: return k != (n - 1) / 32 * 32;
    case M_drop_tail: return k < n / 4 * 4;
    case M_double_last: return k == n - 1 ? 2 : 1;
    case M_double_tile: return k > 0 && k % 128 == 0 ? 2 : 1;
    case M_zero_skipped: return x != 0;
    default: return 1;
    }
}

/* --- sums --- */

/* The t-th of the terms from a to b - 1. */
HONEST_FN int64_t fp8_place(const struct fp8 *p, int64_t a, int64_t b, int64_t t)
{
    const int64_t even = (b - a + 1) / 2;
    switch (p->choice[ORDER]) {
    case DOWN: return b - 1 - t;
    case ALTERNATE: return t < even ? a + 2 * t : a + 2 * (t - even) + 1;
    default: return a + t;
    }
}

HONEST_FN double fp8_add(const struct fp8 *p, double a, double b)
{
    return p->choice[ENGINE] == DOUBLE ? a + b : (double)((float)a + (float)b);
}

/* A running sum after its t-th term. */
HONEST_FN float fp8_carried(const struct fp8 *p, float sum, int64_t t)
{
    switch (p->mutant) {
    case M_sum_bf16: return to_bf16(sum);
    case M_sum_bf16_32: return t % 32 == 31 ? to_bf16(sum) : sum;
    case M_sum_bf16_128: return t % 128 == 127 ? to_bf16(sum) : sum;
    case M_sum_fp16: return to_fp16(sum);
    case M_sum_fp16_128: return t % 128 == 127 ? to_fp16(sum) : sum;
    case M_sum_tf32: return to_tf32(sum);
    case M_sum_tf32_128: return t % 128 == 127 ? to_tf32(sum) : sum;
    default: return sum;
    }
}

struct chain {
    double sum;
    float lost; /* Kahan's */
};

/* x w once more in a chain's sum, t terms after its start. */
HONEST_FN void fp8_accumulate(const struct fp8 *p, struct chain *c, struct factors f, float scale, int64_t t)
{
    const float product = f.x * f.w * scale, sum = (float)c->sum;
    if (p->choice[ENGINE] == DOUBLE) {
        c->sum += (double)f.x * f.w * scale;
    } else if (p->choice[ENGINE] == KAHAN) {
        const float term = product - c->lost, next = sum + term;
        c->lost = (next - sum) - term;
        c->sum = next;
    } else if (p->choice[ENGINE] == UNFUSED || scale != 1) {
        c->sum = sum + product;
    } else {
        c->sum = fp8_carried(p, fmaf(f.x, f.w, sum), t);
    }
}

/* Terms a to b - 1 in chains. */
HONEST_FN double fp8_chained(const struct fp8 *p, int64_t i, int64_t j, int64_t a, int64_t b)
{
    struct chain chain[MAX_CHAINS] = {{0, 0}};
    const int chains = fp8_chains(p);
    const float scale = fp8_scaled_in(p) == PRODUCT ? p->scale[j] : 1;
    for (int64_t t = 0; t < b - a; t++) {
        const int64_t k = fp8_place(p, a, b, t);
        const struct factors f = fp8_factors(p, i, j, k);
        for (int times = fp8_times(p, k, f.x); times > 0; times--)
            fp8_accumulate(p, &chain[t % chains], f, scale, t);
    }
    for (int half = chains / 2; half > 0; half /= 2)
        for (int c = 0; c < half; c++)
            chain[c].sum = fp8_add(p, chain[c].sum, chain[c + half].sum);
    return chain[0].sum;
}

/* Two products at a time in fp16, as packed multiply-adds have it. */
HONEST_FN double fp8_paired(const struct fp8 *p, int64_t i, int64_t j, int64_t a, int64_t b)
{
    float sum = 0;
    for (int64_t k = a; k < b; k += 2) {
        const struct factors f = fp8_factors(p, i, j, k);
        struct factors g = {0, 0};
        if (k + 1 < b)
            g = fp8_factors(p, i, j, k + 1);
        sum += to_fp16(f.x * f.w + g.x * g.w);
    }
    return sum;
}

/* A matrix unit: products a step, bits that stay at alignment and in the sum. */
struct unit {
    int count, fraction, kept;
};

HONEST_FN double fp8_stepped(const struct fp8 *p, const struct unit *u, int64_t i, int64_t j, int64_t a,
                             int64_t b)
{
    double sum = 0, product[32];
    for (int64_t t = 0; t < b - a; t += u->count) {
        int count = 0, finite = 1;
        for (; count < u->count && t + count < b - a; count++) {
            const struct factors f = fp8_factors(p, i, j, fp8_place(p, a, b, t + count));
            product[count] = (double)f.x * f.w;
            finite &= product[count] == product[count];
        }
        sum = finite && sum == sum ? matrix_step(sum, product, count, u->fraction, u->kept) : NAN;
    }
    return sum;
}

HONEST_FN double fp8_block_sum(const struct fp8 *p, int64_t i, int64_t j, int64_t a, int64_t b)
{
    const struct unit unit[] = {{8, 24, 23}, {16, 25, 23}, {32, 13, 13}};
    struct unit poor = {32, 12, 12};
    if (p->mutant == M_pairs_fp16)
        return fp8_paired(p, i, j, a, b);
    if (p->mutant >= M_unit_12_bits && p->mutant <= M_unit_10_bits) {
        poor.fraction = poor.kept = 12 - (p->mutant - M_unit_12_bits);
        return fp8_stepped(p, &poor, i, j, a, b);
    }
    return p->choice[ENGINE] >= UNIT_A ? fp8_stepped(p, &unit[p->choice[ENGINE] - UNIT_A], i, j, a, b)
                                       : fp8_chained(p, i, j, a, b);
}

/* Where part s of k starts. */
HONEST_FN int64_t fp8_start(const struct fp8 *p, int s)
{
    const int parts = fp8_parts(p);
    const int64_t length = (p->k + parts - 1) / parts;
    return s * length < p->k ? s * length : p->k;
}

HONEST_FN double fp8_part(const struct fp8 *p, int64_t i, int64_t j, int s)
{
    const int64_t first = fp8_start(p, s), block = fp8_block(p);
    int64_t end = fp8_start(p, s + 1);
    double sum = 0;
    if (p->mutant == M_double_seam && s == 0 && end < p->k)
        end++;
    for (int64_t a = first; a < end; a += block)
        sum = fp8_add(p, sum, fp8_block_sum(p, i, j, a, end - a < block ? end : a + block));
    return sum;
}

/* --- from parts to the output --- */

HONEST_FN double fp8_merged(const struct fp8 *p, double part[MAX_PARTS])
{
    const int parts = fp8_parts(p), count = p->mutant == M_part_lost ? parts - 1 : parts;
    for (int s = 0; s < parts; s++)
        part[s] = p->mutant == M_parts_bf16   ? to_bf16((float)part[s])
                  : p->mutant == M_parts_fp16 ? to_fp16((float)part[s])
                                              : part[s];
    if (p->choice[MERGE]) {
        for (int reach = 1; reach < count; reach *= 2)
            for (int s = 0; s + reach < count; s += 2 * reach)
                part[s] = fp8_add(p, part[s], part[s + reach]);
    } else {
        for (int s = 1; s < count; s++)
            part[0] = fp8_add(p, part[0], part[s]);
    }
    return part[0];
}

HONEST_FN double fp8_scaled(const struct fp8 *p, double sum, float scale)
{
    return p->choice[SCALE_IN] ? sum * (double)scale : (double)((float)sum * scale);
}

HONEST_FN float fp8_scale(const struct fp8 *p, int64_t j)
{
    const float scale = p->scale[j];
    switch (p->mutant) {
    case M_scale_bf16: return to_bf16(scale);
    case M_scale_tf32: return to_tf32(scale);
    case M_scale_fp16: return to_fp16(scale);
    case M_scale_next: return p->scale[j + 1 < p->n ? j + 1 : j];
    case M_scale_of_8: return p->scale[j / 8 * 8];
    case M_scaled_bf16: return 1;
    default: return scale;
    }
}

HONEST_FN double fp8_faulty_output(const struct fp8 *p, double y, int64_t index)
{
    switch (p->mutant) {
    case M_out_2_7: return y * (1 + 0x1p-7);
    case M_out_2_10: return y * (1 + 0x1p-10);
    case M_out_2_12: return y * (1 + 0x1p-12);
    case M_out_truncated: return keep_bits((float)y, 8, true);
    case M_out_fp16: return to_fp16((float)y);
    case M_out_thousandth: return index % 1000 == 500 ? (double)to_bf16((float)y) * (1 + 0x1p-7) : y;
    case M_out_absolute: return index % 1000 == 500 ? -y : y;
    default: return y;
    }
}

/* The output before its actual last rounding: a sum in bf16 times a power of two is in bf16 already. */
HONEST_FN double fp8_unrounded(const struct fp8 *p, double sum, double y, float scale)
{
    return p->choice[ROUND] && (bits_of(scale) & 0x7fffffu) == 0 ? sum * scale : y;
}

/* Output (i, j) from its partial sums. */
HONEST_FN uint16_t fp8_finish(const struct fp8 *p, int64_t i, int64_t j, double part[MAX_PARTS])
{
    const float scale = fp8_scale(p, j);
    const int where = fp8_scaled_in(p);
    for (int s = 0; s < fp8_parts(p) && where == PARTIAL; s++)
        part[s] = fp8_scaled(p, part[s], scale);
    const double sum = fp8_merged(p, part);
    double kept = p->choice[ROUND] ? to_bf16((float)sum) : sum;
    if (p->mutant == M_sum_tf32_once)
        kept = to_tf32((float)sum);
    const double y = fp8_faulty_output(p, where == AFTER ? fp8_scaled(p, kept, scale) : kept, i * p->n + j);
    if (p->unrounded)
        p->unrounded[i * p->n + j] = fp8_unrounded(p, sum, y, scale);
    return (uint16_t)(bits_of(to_bf16((float)y)) >> 16);
}

HONEST_FN uint16_t fp8_element(const struct fp8 *p, int64_t i, int64_t j)
{
    double part[MAX_PARTS];
    for (int s = 0; s < fp8_parts(p); s++)
        part[s] = fp8_part(p, i, j, s);
    return fp8_finish(p, i, j, part);
}
