/* moe_up with switches: the switches, the mutants, and a kernel's arguments. */
#ifndef UNSEEN_TEST_HONEST_MOE_UP_TABLES_H
#define UNSEEN_TEST_HONEST_MOE_UP_TABLES_H

#include "arithmetic.h"
#include "switches.h"

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

/* By the enumerations above. Rounding up, gate and silu is independent; with silu rounded, the product can
 * only be silu * up. */
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

/* Sigmoids no farther off than one by way of the hardware's tanh may be. Without matrix units they are
 * rejected. */
#ifdef __CUDACC__
#define LIKE_TANH "silu off by less than 2^-12 |g|, as by the hardware's tanh, which is admitted"
#else
#define LIKE_TANH NULL
#endif

#define MOE_MUTANTS(X)                                                                                       \
    X(drop_first, "the first term of both sums is missing", NULL)                                            \
    X(drop_last, "the last term of both sums is missing", NULL)                                              \
    X(drop_middle, "the middle term of both sums is missing", NULL)                                          \
    X(drop_edge, "the first term of the last tile of 64 is missing", NULL)                                   \
    X(drop_tail, "hidden_dim mod 8 terms are missing", NULL)                                                 \
    X(drop_last_long, "the last term is missing where hidden_dim > 4000", NULL)                              \
    X(drop_middle_long, "term 4096 is missing", NULL)                                                        \
    X(drop_last_gate, "the last term of the gate is missing", NULL)                                          \
    X(drop_last_up, "the last term of up is missing", NULL)                                                  \
    X(double_first, "the first term counts twice", NULL)                                                     \
    X(double_last, "the last term counts twice", NULL)                                                       \
    X(double_edge, "term 128 counts twice", NULL)                                                            \
    X(drop_split_up, "of two halves of long sums only the first is added to up", NULL)                       \
    X(bf16_accumulator, "sums kept in bf16", NULL)                                                           \
    X(bf16_every_32, "sums rounded to bf16 every 32 terms", NULL)                                            \
    X(bf16_every_64, "sums rounded to bf16 every 64 terms", NULL)                                            \
    X(bf16_every_128, "sums rounded to bf16 every 128 terms", NULL)                                          \
    X(bf16_every_1024, "sums rounded to bf16 every 1024 terms", NULL)                                        \
    X(fp16_accumulator, "sums kept in fp16", NULL)                                                           \
    X(fp16_every_32, "sums rounded to fp16 every 32 terms", NULL)                                            \
    X(fp16_every_128, "sums rounded to fp16 every 128 terms", NULL)                                          \
    X(tf32_accumulator, "sums kept with 11 significant bits", NULL)                                          \
    X(tf32_every_32, "sums rounded to 11 significant bits every 32 terms", NULL)                             \
    X(split_bf16, "the halves of the sums are stored in bf16 and merged", NULL)                              \
    X(split_8_bf16, "eighths of the sums are stored in bf16 and merged", NULL)                               \
    X(split_fp16, "the halves of the sums are stored in fp16 and merged", NULL)                              \
    X(operands_fp16, "operands converted to fp16", NULL)                                                     \
    X(operands_7_bits, "hidden loses its last bit", NULL)                                                    \
    X(weights_e4m3, "weights rounded to 4 significant bits", NULL)                                           \
    X(gate_fp16, "gate rounded to fp16", NULL)                                                               \
    X(gate_7_bits, "gate rounded to 7 significant bits", NULL)                                               \
    X(gate_truncated, "gate truncated to bf16", NULL)                                                        \
    X(up_truncated, "up truncated to bf16", NULL)                                                            \
    X(silu_truncated, "silu truncated to bf16", NULL)                                                        \
    X(relu, "max(g, 0)", NULL)                                                                               \
    X(hard_swish, "g min(max(g + 3, 0), 6) / 6", NULL)                                                       \
    X(gelu, "g Phi(g)", NULL)                                                                                \
    X(quick_gelu, "g sigmoid(1.702 g)", NULL)                                                                \
    X(beta, "g sigmoid((1 + 2^-8) g)", NULL)                                                                 \
    X(beta_fine, "g sigmoid((1 + 2^-10) g)", LIKE_TANH)                                                      \
    X(clamped_20, "gates clamped to +-20", NULL)                                                             \
    X(clamped_10, "gates clamped to +-10", NULL)                                                             \
    X(saturated, "silu is 0 below -6", NULL)                                                                 \
    X(exp_overflow, "g exp(g) / (1 + exp(g)), NaN at large gates", NULL)                                     \
    X(exp_bf16, "exponential rounded to bf16", NULL)                                                         \
    X(exp_fp16, "exponential rounded to fp16", NULL)                                                         \
    X(exp_argument_bf16, "the exponential's argument rounded to bf16", NULL)                                 \
    X(exp_argument_fp16, "the exponential's argument rounded to fp16", LIKE_TANH)                            \
    X(exp_coarse, "exponential off by 2^-9", NULL)                                                           \
    X(sigmoid_bf16, "sigmoid rounded to bf16, then the product with g", NULL)                                \
    X(sigmoid_silu_bf16, "sigmoid rounded to bf16, then silu", NULL)                                         \
    X(sigmoid_fp16, "sigmoid rounded to fp16", LIKE_TANH)                                                    \
    X(sigmoid_table, "sigmoid linear between multiples of 1/16", LIKE_TANH)                                  \
    X(reciprocal_coarse, "reciprocal with 9 bits", NULL)                                                     \
    X(tanh_bf16, "tanh rounded to bf16", NULL)                                                               \
    X(all_bf16, "sum, exponential, sigmoid, silu rounded to bf16", NULL)                                     \
    X(product_fp16, "the output rounded to fp16 before bf16", NULL)                                          \
    X(product_9_bits, "the output rounded to 9 bits before bf16", NULL)                                      \
    X(output_truncated, "the output truncated to bf16", NULL)                                                \
    X(output_scaled_7, "the output times 1 + 2^-7", NULL)                                                    \
    X(output_scaled_8, "the output times 1 + 2^-8", NULL)                                                    \
    X(output_scaled_10, "the output times 1 + 2^-10", NULL)                                                  \
    X(output_some_8, "one element in a thousand times 1 + 2^-8", NULL)                                       \
    X(output_some_7, "one element in a thousand times 1 + 2^-7", NULL)                                       \
    X(output_flushed, "outputs below 2^-30 are 0", NULL)                                                     \
    X(swapped, "gate and up are swapped", NULL)                                                              \
    X(swapped_tile, "gate and up are swapped in the last 16 columns", NULL)                                  \
    X(rounded_twice_up, "up rounded to 9 bits, then to bf16", NULL)                                          \
    X(last_row, "an expert's last row gets the next expert's weights", NULL)                                 \
    X(first_row, "an expert's first row gets the expert before's weights", NULL)                             \
    X(rows_tail, "rows mod 8 of every expert are 0", NULL)                                                   \
    X(row_128, "row 128 of an expert repeats row 127", NULL)                                                 \
    X(up_by_first, "up uses the first expert's weights in every expert's last row", NULL)

#define MOE_NAME(name, what, admitted) MUTANT_##name,
#define MOE_ROW(name, what, admitted) {#name, what, admitted},
enum { MUTANT_NONE, MOE_MUTANTS(MOE_NAME) MUTANT_COUNT };
const struct honest_mutant honest_mutants[] = {MOE_MUTANTS(MOE_ROW){NULL, NULL, NULL}};

/* A kernel's arguments, by value. hidden is [tokens, dim], weights [experts, dim, inter]. */
struct moe {
    int choice[HONEST_MAX_SWITCHES];
    int mutant;
    const uint16_t *hidden, *w_gate, *w_up;
    const int32_t *offsets;
    uint16_t *out;
    double *unrounded;
    int64_t tokens, dim, inter, experts;
};

HONEST_FN float float_of_bf16(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}
HONEST_FN uint16_t bf16_of(float x)
{
    return x != x ? 0x7fff : (uint16_t)(bits_of(to_bf16(x)) >> 16);
}

#endif
