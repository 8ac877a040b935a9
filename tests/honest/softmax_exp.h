/* Parts of programs for softmax: the switches, the mutants, exponentials, logarithms and quotients. The fast
 * ones are the GPU's own on a GPU, and emulated on the host. The emulation is right to 2 units in the last
 * place, or 3, with an error from a hash of the argument. */
#ifndef UNSEEN_HONEST_SOFTMAX_EXP_H
#define UNSEEN_HONEST_SOFTMAX_EXP_H

#include "arithmetic.h"
#include "switches.h"

enum { PASS, TILE, LANES, LAYOUT, SUM, SPLIT, MERGE, EXP, BOUND, NUMERATOR, QUOTIENT, FLUSH, SWITCHES };

enum { PASS_MAX_FIRST, PASS_TILES, PASS_ONLINE };
enum { LAYOUT_INTERLEAVED, LAYOUT_TOGETHER };
enum { SUM_SERIAL, SUM_PAIRWISE, SUM_KAHAN, SUM_DOUBLE };
enum { MERGE_SERIAL, MERGE_TREE, MERGE_LOGS };
enum { EXP_PLAIN, EXP_BASE_2, EXP_FOLDED, EXP_UNFUSED, EXP_FAST, EXP_FAST_FOLDED, EXP_DOUBLE };
enum { BOUND_EXACT, BOUND_ABOVE };
enum { NUMERATOR_AGAIN, NUMERATOR_RESCALED };
enum {
    QUOTIENT_DIVISION,
    QUOTIENT_RECIPROCAL,
    QUOTIENT_FAST,
    QUOTIENT_DOUBLE,
    QUOTIENT_LOG,
    QUOTIENT_LOG_LATE
};
enum { FLUSH_NO, FLUSH_YES };

enum { SOFTMAX_MOST_SPLITS = 64 };

#define SOFTMAX_SWITCHES                                                                                     \
    {"pass", {"max_first", "tiles", "online"}, {0}}, {"tile", {"4096", "1024", "96", "33"}, {0}},            \
        {"lanes", {"1", "4", "32"}, {0}}, {"layout", {"interleaved", "together"}, {0}},                      \
        {"sum", {"serial", "pairwise", "kahan", "double"}, {0}}, {"split", {"1", "2", "7", "64"}, {0}},      \
        {"merge", {"serial", "tree", "logs"}, {0}},                                                          \
        {"exp", {"plain", "base_2", "folded", "unfused", "fast", "fast_folded", "double"}, {0}},             \
        {"bound", {"exact", "above"}, {0}}, {"numerator", {"again", "rescaled"}, {0}},                       \
        {"quotient", {"division", "reciprocal", "fast", "double", "log", "log_late"}, {0}},                  \
        {"flush", {"no", "yes"}, {0}},                                                                       \
    {                                                                                                        \
        NULL, {NULL},                                                                                        \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

enum mutant {
    HONEST,
    NO_MAX,
    MAX_WITHOUT_TAIL_4,
    MAX_WITHOUT_TAIL_32,
    MAX_OF_FIRST_1024,
    MAX_WITHOUT_LAST_TILE,
    MAX_WITHOUT_FIRST,
    FAR_BOUND,
    KEEPS_OLD_SUM,
    MERGES_UNSCALED,
    DROPS_LAST,
    DROPS_FIRST,
    DROPS_LAST_OF_LONG,
    DROPS_MIDDLE,
    DROPS_TAIL_8,
    DROPS_TAIL_1024,
    DOUBLES_LAST,
    DOUBLES_TILE_EDGE,
    DROPS_WHAT_SPLITS_LEAVE,
    BF16_EXP,
    FP16_EXP,
    TF32_EXP,
    BF16_TERMS,
    BF16_ARGUMENT,
    FP16_ARGUMENT,
    TF32_ARGUMENT,
    ARGUMENT_OF_18_BITS,
    ARGUMENT_OF_20_BITS,
    TF32_LOGITS,
    SHORT_CONSTANT,
    COARSE_POLYNOMIAL,
    COARSE_TABLE,
    FINER_TABLE,
    EXP_CUT_AT_25,
    BF16_SUM,
    TF32_SUM,
    BF16_SUM_EVERY_32,
    FP16_SUM_EVERY_64,
    TF32_SUM_EVERY_128,
    ONE_CHAIN,
    CHAINS_OF_16384,
    BF16_RECIPROCAL,
    COARSE_RECIPROCAL,
    TF32_LOG,
    OFF_IN_ODD_COLUMNS,
    OFF_BY_2_7,
    OFF_BY_2_10,
    OFF_BY_2_13,
    OFF_BY_2_13_LONG,
    ONE_IN_1000,
    ONE_IN_1000_SLIGHTLY,
    SECOND_HALF_OFF,
    BF16_OUTPUT,
    FP16_OUTPUT,
    TF32_OUTPUT,
    INFINITY_MEETS_INFINITY,
    ZERO_FOR_NOTHING,
    SHIFTED_LONG_ROWS
};

/* In the order of the enumeration. */
#define SOFTMAX_MUTANTS                                                                                      \
    {"no_max", "exponentials of the logits as they are", NULL},                                              \
        {"max_without_tail_4", "the maximum leaves out the last cols % 4", NULL},                            \
        {"max_without_tail_32", "the maximum leaves out the last cols % 32", NULL},                          \
        {"max_of_first_1024", "the maximum is that of the first 1024 columns", NULL},                        \
        {"max_without_last_tile", "the maximum leaves out the last tile of 1024", NULL},                     \
        {"max_without_first", "the maximum starts at column 1", NULL},                                       \
        {"far_bound", "70 above the maximum is subtracted", NULL},                                           \
        {"keeps_old_sum", "one pass, the sum not rescaled when the maximum rises", NULL},                    \
        {"merges_unscaled", "tiles merged without bringing their sums to one maximum", NULL},                \
        {"drops_last", "the sum without the last column", NULL},                                             \
        {"drops_first", "the sum without the first column", NULL},                                           \
        {"drops_last_of_long", "the sum without the last column of rows of 65536 and more", NULL},           \
        {"drops_middle", "the sum without the middle column", NULL},                                         \
        {"drops_tail_8", "the sum without the last cols % 8", NULL},                                         \
        {"drops_tail_1024", "the sum without the last cols % 1024, from 1024 columns on", NULL},             \
        {"doubles_last", "the last column twice in the sum", NULL},                                          \
        {"doubles_tile_edge", "columns at multiples of 1024 twice in the sum", NULL},                        \
        {"drops_what_splits_leave", "the sum without the last cols % 7, from 4096 columns on", NULL},        \
        {"bf16_exp", "exponentials rounded to bf16", NULL},                                                  \
        {"fp16_exp", "exponentials rounded to fp16", NULL},                                                  \
        {"tf32_exp", "exponentials rounded to TF32", NULL},                                                  \
        {"bf16_terms", "the sum's terms rounded to bf16, the numerators not", NULL},                         \
        {"bf16_argument", "x - max rounded to bf16", NULL},                                                  \
        {"fp16_argument", "x - max rounded to fp16", NULL},                                                  \
        {"tf32_argument", "x - max rounded to TF32", NULL},                                                  \
        {"argument_of_18_bits", "x - max rounded to 18 bits", NULL},                                         \
        {"argument_of_20_bits", "x - max rounded to 20 bits", NULL},                                         \
        {"tf32_logits", "x rounded to TF32", NULL}, {"short_constant", "log2 e written as 1.4427", NULL},    \
        {"coarse_polynomial", "2^f by a polynomial of degree 3, right to 10^-4", NULL},                      \
        {"coarse_table", "exponentials interpolated in a table of 64 steps, right to 2^-15", NULL},          \
        {"finer_table", "exponentials interpolated in a table of 128 steps, right to 2^-17", NULL},          \
        {"exp_cut_at_25", "exponentials more than 25 below the maximum are 0", NULL},                        \
        {"bf16_sum", "the sum rounded to bf16 at every term", NULL},                                         \
        {"tf32_sum", "the sum rounded to TF32 at every term", NULL},                                         \
        {"bf16_sum_every_32", "the sum rounded to bf16 every 32 terms", NULL},                               \
        {"fp16_sum_every_64", "the sum rounded to fp16 every 64 terms", NULL},                               \
        {"tf32_sum_every_128", "the sum rounded to TF32 every 128 terms", NULL},                             \
        {"one_chain", "one fp32 chain over the whole row", NULL},                                            \
        {"chains_of_16384", "fp32 chains of 16384 terms", NULL},                                             \
        {"bf16_reciprocal", "one over the sum rounded to bf16", NULL},                                       \
        {"coarse_reciprocal", "one over the sum right to 11 bits", NULL},                                    \
        {"tf32_log", "the logarithm of the sum rounded to TF32", NULL},                                      \
        {"off_in_odd_columns", "exponentials of odd columns too large by 2^-13, from 512 columns on", NULL}, \
        {"off_by_2_7", "results times 1 + 2^-7", NULL}, {"off_by_2_10", "results times 1 + 2^-10", NULL},    \
        {"off_by_2_13", "results times 1 + 2^-13", NULL},                                                    \
        {"off_by_2_13_long", "results times 1 + 2^-13 from 512 columns on",                                  \
         "a row's denominator may be off by 2^-12"},                                                         \
        {"one_in_1000", "one result in 1000 times 1 + 2^-8", NULL},                                          \
        {"one_in_1000_slightly", "one result in 1000 times 1 + 2^-14", NULL},                                \
        {"second_half_off", "results of a row's second half times 1 - 2^-13, from 512 columns on", NULL},    \
        {"bf16_output", "results rounded to bf16", NULL}, {"fp16_output", "results rounded to fp16", NULL},  \
        {"tf32_output", "results rounded to TF32", NULL},                                                    \
        {"infinity_meets_infinity", "-inf minus a maximum of -inf", NULL},                                   \
        {"zero_for_nothing", "0 in rows without a finite logit", NULL},                                      \
        {"shifted_long_rows", "logits one column off, beyond 32768 columns", NULL},                          \
    {                                                                                                        \
        NULL, NULL, NULL                                                                                     \
    }

#define LOG2_E 1.44269504f

/* A program's choices; a kernel gets them by value. */
struct how {
    int choice[SWITCHES];
    enum mutant mutant;
};

HONEST_FN int64_t how_number(const struct how *how, int which)
{
    const int tiles[] = {4096, 1024, 96, 33}, lanes[] = {1, 4, 32}, splits[] = {1, 2, 7, SOFTMAX_MOST_SPLITS};
    return which == TILE    ? tiles[how->choice[TILE]]
           : which == LANES ? lanes[how->choice[LANES]]
                            : splits[how->choice[SPLIT]];
}

/* A mutant needs the way on which its fault lies. */
HONEST_FN struct how how_to(const int *choice, int mutating)
{
    struct how how;
    how.mutant = (enum mutant)mutating;
    for (int s = 0; s < SWITCHES; s++)
        how.choice[s] = choice[s];
    if (how.mutant == KEEPS_OLD_SUM || how.mutant == INFINITY_MEETS_INFINITY)
        how.choice[PASS] = PASS_ONLINE;
    if (how.mutant == MERGES_UNSCALED)
        how.choice[PASS] = PASS_TILES;
    if (how.mutant == TF32_LOG)
        how.choice[QUOTIENT] = QUOTIENT_LOG;
    return how;
}

/* Products and differences that no compiler fuses. */
HONEST_FN float apart(float x)
{
    volatile float held = x;
    return held;
}

/* `exact`, off by up to `units` of 2^-24. */
HONEST_FN float off_by(double exact, float argument, double units)
{
    const uint32_t hash = bits_of(argument) * 2654435761u ^ 0x9e3779b9u;
    const double share = ((double)(hash >> 8 & 0xffff) - 32768) / 32768;
    return (float)(exact * (1 + (units - 1) * share * 0x1p-24));
}

HONEST_FN float fast_exp2(float a)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
#else
    return a == 0 ? 1 : off_by(exp2((double)a), a, 4);
#endif
}

/* x - max, of which more than 18 bits matter. */
HONEST_FN float how_argument(const struct how *how, float d)
{
    switch (how->mutant) {
    case BF16_ARGUMENT: return to_bf16(d);
    case FP16_ARGUMENT: return to_fp16(d);
    case TF32_ARGUMENT: return to_tf32(d);
    case ARGUMENT_OF_18_BITS: return keep_bits(d, 18, false);
    case ARGUMENT_OF_20_BITS: return keep_bits(d, 20, false);
    default: return d;
    }
}

/* 2^a for a <= 0: a polynomial of degree 3 on [0, 1), interpolating at Chebyshev's points. */
HONEST_FN float coarse_exp2(float a)
{
    const float whole = floorf(a), f = a - whole;
    return ldexpf(0.99990029f + f * (0.69632477f + f * (0.22469316f + f * 0.07896726f)), (int)whole);
}

/* Interpolated between neighbours in a table of `steps` to a unit. */
HONEST_FN float table_exp(float d, float steps)
{
    const float at = floorf(d * steps) / steps;
    const float low = expf(at), high = expf(at + 1 / steps);
    return low + (high - low) * (d - at) * steps;
}

/* exp(d), d = x - max. */
HONEST_FN float how_exp_of(const struct how *how, float exact)
{
    const float d = how_argument(how, exact);
    if (how->mutant == SHORT_CONSTANT)
        return exp2f(d * 1.4427f);
    if (how->mutant == COARSE_POLYNOMIAL && d > -120)
        return coarse_exp2(d * LOG2_E);
    if ((how->mutant == COARSE_TABLE || how->mutant == FINER_TABLE) && d > -80)
        return table_exp(d, how->mutant == COARSE_TABLE ? 64 : 128);
    switch (how->choice[EXP]) {
    case EXP_PLAIN: return expf(d);
    case EXP_DOUBLE: return (float)exp((double)d);
    case EXP_FAST:
#ifdef __CUDA_ARCH__
        return __expf(d);
#endif
    case EXP_FAST_FOLDED: return fast_exp2(d * LOG2_E);
    default: return exp2f(d * LOG2_E);
    }
}

HONEST_FN float how_round_exp(const struct how *how, float e)
{
    switch (how->mutant) {
    case BF16_EXP: return to_bf16(e);
    case FP16_EXP: return to_fp16(e);
    case TF32_EXP: return to_tf32(e);
    default: return how->choice[FLUSH] == FLUSH_YES && e < 0x1p-126f ? 0 : e;
    }
}

/* exp(x - max). */
HONEST_FN float how_exp(const struct how *how, float x, float max)
{
    float e;
    if (how->mutant == EXP_CUT_AT_25 && x - max < -25)
        return 0;
    switch (how->choice[EXP]) {
    case EXP_FOLDED: e = exp2f(fmaf(x, LOG2_E, -apart(max * LOG2_E))); break;
    case EXP_UNFUSED: e = exp2f(apart(x * LOG2_E) - apart(max * LOG2_E)); break;
    case EXP_FAST_FOLDED: e = fast_exp2(fmaf(x, LOG2_E, -apart(max * LOG2_E))); break;
    default: e = how_exp_of(how, x - max);
    }
    return how_round_exp(how, e);
}

/* The factor that turns a sum relative to one maximum into one relative to another. */
HONEST_FN float how_rescale(const struct how *how, float from, float to)
{
    return from == to ? 1 : how_exp_of(how, from - to);
}

/* exp((x - max) - log), the logarithm subtracted last. */
HONEST_FN float how_exp_less(const struct how *how, float x, float max, float log)
{
    if (how->choice[EXP] == EXP_FOLDED || how->choice[EXP] == EXP_FAST_FOLDED) {
        const float a = fmaf(x, LOG2_E, -apart(max * LOG2_E)) - log * LOG2_E;
        return how_round_exp(how, how->choice[EXP] == EXP_FOLDED ? exp2f(a) : fast_exp2(a));
    }
    return how_round_exp(how, how_exp_of(how, (x - max) - log));
}

HONEST_FN float how_log(const struct how *how, float sum)
{
    if (how->mutant == TF32_LOG)
        return to_tf32(logf(sum));
    if (how->choice[EXP] == EXP_DOUBLE)
        return (float)log((double)sum);
    if (how->choice[EXP] != EXP_FAST && how->choice[EXP] != EXP_FAST_FOLDED)
        return logf(sum);
#ifdef __CUDA_ARCH__
    return __logf(sum);
#else
    return sum > 0.5f && sum < 2 ? logf(sum) + off_by(1, sum, 7) - 1 : off_by(log((double)sum), sum, 6);
#endif
}

HONEST_FN float how_divide(const struct how *how, float e, float sum)
{
    if (how->mutant == BF16_RECIPROCAL)
        return e * to_bf16(1 / sum);
    if (how->mutant == COARSE_RECIPROCAL)
        return e * keep_bits(1 / sum, 11, true);
    switch (how->choice[QUOTIENT]) {
    case QUOTIENT_RECIPROCAL: return e * (1 / sum);
    case QUOTIENT_DOUBLE: return (float)((double)e * (1 / (double)sum));
    case QUOTIENT_FAST:
#ifdef __CUDA_ARCH__
        return __fdividef(e, sum);
#else
        return off_by((double)e / (double)sum, e, 4);
#endif
    default: return e / sum;
    }
}

#endif
