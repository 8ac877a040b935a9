/* The tables of a matrix product's program, and the arguments of a kernel for a choice. Included once, after
 * honest.h. */
#ifndef UNSEEN_TEST_HONEST_GEMM_SWITCHES_H
#define UNSEEN_TEST_HONEST_GEMM_SWITCHES_H

#include "gemm_mutants.h"

enum { BY_ORDER, BY_LANES, BY_BLOCK, BY_SPLIT, BY_MERGE, BY_ENGINE, BY_PRODUCT, BY_REST, BY_LAST };

static const int lanes_of[] = {1, 2, 4, 8, 32};
static const int block_of[] = {0, 4, 32, 100, 128, 512, 4096};
static const int split_of[] = {1, 2, 3, 7, 16, 64};

#ifdef __cplusplus
extern "C" {
#endif

const struct honest_switch honest_switches[] = {
    {"order", {"up", "down", "strided", "ends"}, {0}}, /* in which k is walked */
    {"lanes", {"1", "2", "4", "8", "32"}, {0}},        /* accumulators side by side */
    {"block",
     {"all", "4", "32", "100", "128", "512", "4096"},
     {0}},                                            /* terms whose sum is then added to the rest */
    {"split", {"1", "2", "3", "7", "16", "64"}, {0}}, /* slices of k, each with sums of its own */
    {"merge", {"serial", "tree"}, {0}},               /* for lanes, and for slices */
#ifdef __CUDACC__
    {"engine", {"fp32", "kahan", "double", "wmma"}, {0, 0, 0, 80}},
#else
    {"engine", {"fp32", "kahan", "double", "ampere", "hopper"}, {0, 0, 0, 80, 90}}, /* the unit that adds */
#endif
    {"product", {"fused", "rounded"}, {0}}, /* rounded before it is added */
#ifdef GEMM_F32
    {"rest",
     {"first", "last", "apart"},
     {0}}, /* small products: before the large ones, after, or by themselves */
    {"parts",
     {"none", "tf32x3", "tf32x3_cut", "tf32x3_raw", "bf16x9", "bf16x6"},
     {0}}, /* that operands are split into */
#else
    {"output", {"even", "away", "direct"}, {0}}, /* at a tie; from the double where there is one */
#endif
    {NULL, {NULL}, {0}}};

const struct honest_mutant honest_mutants[] = {GEMM_MUTANTS_BOTH(GEMM_LISTED)
#ifdef GEMM_F32
                                                   GEMM_MUTANTS_F32(GEMM_LISTED)
#else
                                                   GEMM_MUTANTS_BF16(GEMM_LISTED)
#endif
                                                       {NULL, NULL, NULL}};

#ifdef __cplusplus
}
#endif

/* Matrix units take 16-bit or TF32 operands, so whole fp32 ones are split there. */
static struct gemm_way gemm_way(void)
{
    struct gemm_way w;
    w.order = honest_choice[BY_ORDER];
    w.lanes = lanes_of[honest_choice[BY_LANES]];
    w.block = block_of[honest_choice[BY_BLOCK]];
    w.split = split_of[honest_choice[BY_SPLIT]];
    w.tree = honest_choice[BY_MERGE];
    w.engine = honest_choice[BY_ENGINE];
    w.rounded = honest_choice[BY_PRODUCT];
    w.rest = w.output = w.parts = 0;
#ifdef GEMM_F32
    w.rest = honest_choice[BY_REST];
    w.parts = honest_choice[BY_LAST];
    if (w.parts == PARTS_PLAIN && w.engine >= ENGINE_MATRIX)
        w.parts = PARTS_TF32;
#else
    w.output = honest_choice[BY_REST];
#endif
    w.mutant = honest_mutating;
#ifndef GEMM_F32
    if (w.mutant >= MUTANT_tf32) /* the numbers of gemm_f32's own lie between */
        w.mutant += MUTANT_output_cut - MUTANT_tf32;
#endif
    return w;
}

/* One element of c before its last rounding. */
HONEST_FN double gemm_result(const struct gemm_line *a, const struct gemm_line *b, int64_t k,
                             const struct gemm_way *w, const struct gemm_place *at)
{
    if (!w->mutant)
        return gemm_dot(a, b, k, w);
    const int64_t element = at->row * at->columns + at->column;
    return mutant_output((float)mutant_dot(a, b, k, w->mutant, at), w->mutant, element,
                         element == at->rows * at->columns - 1);
}

#endif
