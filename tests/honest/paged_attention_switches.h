/* paged_attention with switches: the choices, and the faults. The algorithm: paged_attention.h. */
#ifndef UNSEEN_HONEST_PAGED_ATTENTION_SWITCHES_H
#define UNSEEN_HONEST_PAGED_ATTENTION_SWITCHES_H

#include "switches.h"

enum {
    SW_DOT,
    SW_SCALE,
    SW_BASE,
    SW_ARGUMENT,
    SW_EXP,
    SW_MAX,
    SW_TILE,
    SW_SPLIT,
    SW_NORMALIZE,
    SW_MERGE,
    SW_DIVIDE,
    SW_P,
    SW_SUM,
    SW_VALUES,
    SW_PRODUCT,
    SW_ORDER
};

/* In the order of the values below. */
enum { DOT_SERIAL, DOT_LANES, DOT_PAIRWISE, DOT_DOUBLE, DOT_HOPPER, DOT_AMPERE, DOT_WMMA };
enum { SCALE_AFTER, SCALE_DIVIDE, SCALE_QUERY, SCALE_EXPONENT };
enum { BASE_E, BASE_2 };
enum { ARGUMENT_DIFFERENCE, ARGUMENT_FUSED, ARGUMENT_SEPARATE };
enum { EXP_LIBRARY, EXP_FAST, EXP_DOUBLE };
enum { MAX_SPLIT, MAX_RUNNING, MAX_LAZY, MAX_ROW };
enum { NORMALIZE_LAST, NORMALIZE_SPLIT, NORMALIZE_FIRST, NORMALIZE_ROW };
enum { MERGE_RESCALE, MERGE_LSE, MERGE_LSE_SUM, MERGE_PAIRS };
enum { DIVIDE_EXACT, DIVIDE_RECIPROCAL, DIVIDE_FAST };
enum { P_FLOAT, P_BF16 };
enum { SUM_SERIAL, SUM_LANES, SUM_DOUBLE, SUM_ROUNDED, SUM_ROUNDED_LANES };
enum { VALUES_SERIAL, VALUES_LANES, VALUES_TILES, VALUES_DOUBLE, VALUES_HOPPER, VALUES_AMPERE, VALUES_WMMA };
enum { PRODUCT_FUSED, PRODUCT_ROUNDED };
enum { ORDER_FORWARD, ORDER_BACKWARD };

enum {
    SPLIT_NONE,
    SPLIT_TWO,
    SPLIT_EIGHT,
    SPLIT_STRIDED,
    SPLIT_SIZED
}; /* from SPLIT_SIZED on: sizes below */

/* In the order of the enumeration of switches. */
const struct honest_switch honest_switches[] = {
    {"dot",
     {"serial", "lanes", "pairwise", "double", "hopper", "ampere",
#ifdef __CUDACC__
      "wmma",
#endif
      NULL},
     {0, 0, 0, 0, 90, 80, 80}},
    {"scale", {"after", "divide", "query", "exponent", NULL}, {0}},
    {"base", {"e", "2", NULL}, {0}},
    {"argument", {"difference", "fused", "separate", NULL}, {0}},
    {"exp", {"library", "fast", "double", NULL}, {0}},
    {"max", {"split", "running", "lazy", "row", NULL}, {0}},
    {"tile", {"16", "1", "17", "64", "128", "256", NULL}, {0}},
    {"split",
     {"none", "two", "eight", "strided", "16", "17", "48", "64", "100", "256", "512", "1000", "2048", NULL},
     {0}},
    {"normalize", {"last", "split", "first", "row", NULL}, {0}},
    {"merge", {"rescale", "lse", "lse_sum", "pairs", NULL}, {0}},
    {"divide", {"exact", "reciprocal", "fast", NULL}, {0}},
    {"p", {"float", "bf16", NULL}, {0}},
    {"sum", {"serial", "lanes", "double", "rounded", "rounded_lanes", NULL}, {0}},
    {"values",
     {"serial", "lanes", "tiles", "double", "hopper", "ampere",
#ifdef __CUDACC__
      "wmma",
#endif
      NULL},
     {0, 0, 0, 0, 90, 80, 80}},
    {"product", {"fused", "rounded", NULL}, {0}},
    {"order", {"forward", "backward", NULL}, {0}},
    {NULL, {NULL}, {0}}};

/* The faults, in the order of the table; MUTANT_NONE is honest. */
enum mutant {
    MUTANT_NONE,
    LAST_DROPPED,
    FIRST_DROPPED,
    MIDDLE_DROPPED,
    EDGE_DROPPED,
    TAIL_DROPPED,
    LAST_TWICE,
    FIRST_TWICE,
    MIDDLE_TWICE,
    ONE_BEYOND,
    PAGE_PADDED,
    LONG_LAST_DROPPED,
    LONG_LAST_TWICE,
    LONG_LAST_PAGE,
    LONG_EDGE_DROPPED,
    LAST_PAGE,
    HEAD_MODULO,
    NO_MAXIMUM,
    FIRST_TILE_MAXIMUM,
    SUM_NOT_RESCALED,
    MERGE_UNWEIGHTED,
    MERGE_BY_LENGTH,
    LSE_BF16,
    LSE_FP16,
    SCORE_BF16,
    SCORE_FP16,
    QUERY_SCALED_BF16,
    SCALE_BF16,
    SCALE_ROUGH,
    DOT_BF16,
    DOT_FP16,
    ARGUMENT_BF16,
    ARGUMENT_FP16,
    EXP_CRUDE,
    EXP_CUBIC,
    P_E4M3,
    P_SIX_BITS,
    P_TRUNCATED,
    P_TWICE,
    SUM_BF16,
    SUM_FP16,
    SUM_AT_END_BF16,
    ACC_BF16,
    ACC_FP16,
    ACC_TF32,
    ACC_BF16_32,
    ACC_BF16_64,
    ACC_BF16_128,
    ACC_FP16_32,
    ACC_FP16_64,
    ACC_FP16_128,
    ACC_TF32_64,
    PARTIAL_BF16,
    PARTIAL_FP16,
    VALUE_E4M3,
    KEY_E4M3,
    OUT_TRUNCATED,
    OUT_2_7,
    OUT_2_8,
    OUT_2_9,
    OUT_2_10,
    OUT_1_IN_1000
};

const struct honest_mutant honest_mutants[] = {
    {"last_dropped", "sequences one token short", NULL},
    {"first_dropped", "the first token is left out", NULL},
    {"middle_dropped", "the token in the middle is left out", NULL},
    {"edge_dropped", "the last token of the last full tile of 64 is left out", NULL},
    {"tail_dropped", "tokens beyond a multiple of 8 are left out", NULL},
    {"last_twice", "the last token counts twice", NULL},
    {"first_twice", "the first token counts twice", NULL},
    {"middle_twice", "the token in the middle counts twice", NULL},
    {"one_beyond", "one token too many, from the slot after the last", NULL},
    {"page_padded", "the rest of the last page counts as tokens of zeros", NULL},
    {"long_last_dropped", "sequences one token short, beyond 50000 tokens", NULL},
    {"long_last_twice", "the last token counts twice, beyond 50000 tokens", NULL},
    {"long_last_page", "the first page in the place of the last one, beyond 50000 tokens", NULL},
    {"long_edge_dropped", "the last token of the first half is left out, beyond 50000 tokens", NULL},
    {"last_page", "the page before in the place of the last one", NULL},
    {"head_modulo", "key and value head h mod kv_heads", NULL},
    {"no_maximum", "exponentials of the scores themselves", NULL},
    {"first_tile_maximum", "the maximum of the first tile for all", NULL},
    {"sum_not_rescaled", "the running maximum rescales the output and not the sum", NULL},
    {"merge_unweighted", "splits of 256 tokens merged with equal weights", NULL},
    {"merge_by_length", "splits of 256 tokens weighted by their tokens", NULL},
    {"lse_bf16", "splits of 256 tokens, their log-sum-exp in bf16", NULL},
    {"lse_fp16", "splits of 256 tokens, their log-sum-exp in fp16", NULL},
    {"score_bf16", "scores in bf16", NULL},
    {"score_fp16", "scores in fp16", NULL},
    {"query_scaled_bf16", "the query scaled, then rounded to bf16", NULL},
    {"scale_bf16", "1 / sqrt(D) rounded to bf16", NULL},
    {"scale_rough", "1 / sqrt(D) to three digits", NULL},
    {"dot_bf16", "scores summed in bf16", NULL},
    {"dot_fp16", "scores summed in fp16", NULL},
    {"argument_bf16", "exponents in bf16", NULL},
    {"argument_fp16", "exponents in fp16",
     "off by 2^-12 of a distance from the maximum: up to 16 of them less than a probability rounded to bf16, "
     "and beyond e^-16 of weight",
     80},
    {"exp_crude", "exponentials within 3%, linear between powers of two", NULL},
    {"exp_cubic", "exponentials within 10^-4, cubic between powers of two",
     "a probability that is rounded to bf16 errs forty times as much"},
    {"p_e4m3", "probabilities of 4 bits", NULL},
    {"p_six_bits", "probabilities of 6 bits", NULL},
    {"p_truncated", "probabilities cut off to bf16, not rounded", NULL},
    {"p_twice", "probabilities rounded to bf16, normalized, rounded again", NULL},
    {"sum_bf16", "the denominator summed in bf16", NULL},
    {"sum_fp16", "the denominator summed in fp16", NULL},
    {"sum_at_end_bf16", "the denominator rounded to bf16", NULL},
    {"acc_bf16", "weighted values summed in bf16", NULL},
    {"acc_fp16", "weighted values summed in fp16", NULL},
    {"acc_tf32", "weighted values summed in tf32", NULL},
    {"acc_bf16_32", "their sum rounded to bf16 every 32 tokens", NULL},
    {"acc_bf16_64", "their sum rounded to bf16 every 64 tokens", NULL},
    {"acc_bf16_128", "their sum rounded to bf16 every 128 tokens", NULL},
    {"acc_fp16_32", "their sum rounded to fp16 every 32 tokens", NULL},
    {"acc_fp16_64", "their sum rounded to fp16 every 64 tokens", NULL},
    {"acc_fp16_128", "their sum rounded to fp16 every 128 tokens", NULL},
    {"acc_tf32_64", "their sum rounded to tf32 every 64 tokens", NULL},
    {"partial_bf16", "splits of 512 tokens, their outputs in bf16", NULL},
    {"partial_fp16", "splits of 512 tokens, their outputs in fp16",
     "each split errs an eighth of what its probabilities may, rounded to bf16 alike"},
    {"value_e4m3", "values of 4 bits", NULL},
    {"key_e4m3", "keys of 4 bits", NULL},
    {"out_truncated", "outputs cut off to bf16, not rounded", NULL},
    {"out_2_7", "outputs times 1 + 2^-7", NULL},
    {"out_2_8", "outputs times 1 + 2^-8", NULL},
    {"out_2_9", "outputs times 1 + 2^-9", NULL},
    {"out_2_10", "outputs times 1 + 2^-10",
     "12 2^-8 / sqrt(L) of probabilities, L 2^-24 of values and 2^-12 of the denominator are at least 1.2 "
     "2^-10"},
    {"out_1_in_1000", "one output in 1009 times 1 + 2^-7", NULL},
    {NULL, NULL, NULL}};

#endif
