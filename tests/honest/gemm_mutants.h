/* A matrix product with one numerical fault, everything else the plainest: one fp32 accumulator, ascending k.
 * LONG: only from 8192 terms on, where allowed errors are widest. */
#ifndef UNSEEN_TEST_HONEST_GEMM_MUTANTS_H
#define UNSEEN_TEST_HONEST_GEMM_MUTANTS_H

#include "gemm.h"

/* name, fault, reason where admitted: for both products, for gemm_f32, for gemm_bf16 */
#define GEMM_MUTANTS_BOTH(X)                                                                                 \
    X(drop_first, "k = 0 left out", NULL)                                                                    \
    X(drop_last, "the last k left out", NULL)                                                                \
    X(drop_middle, "k / 2 left out", NULL)                                                                   \
    X(drop_15, "k = 15 left out, the last of a step", NULL)                                                  \
    X(drop_128, "k = 128 left out, the first of a tile", NULL)                                               \
    X(double_first, "k = 0 twice", NULL)                                                                     \
    X(double_last, "the last k twice", NULL)                                                                 \
    X(double_64, "k = 64 twice", NULL)                                                                       \
    X(tail_8, "the last k mod 8 terms left out", NULL)                                                       \
    X(tail_32, "the last k mod 32 terms left out", NULL)                                                     \
    X(tail_repeats, "the last k reads the one before in its place", NULL)                                    \
    X(tail_shifted, "in the last k mod 16 terms b is one place behind", NULL)                                \
    X(drop_in_corner, "the last k left out of the last element alone", NULL)                                 \
    X(drop_in_last_column, "the last k left out of the last column", NULL)                                   \
    X(drop_last_long, "LONG: the last k left out", NULL)                                                     \
    X(drop_middle_long, "LONG: k / 2 left out", NULL)                                                        \
    X(drop_4096_long, "LONG: k = 4096 left out", NULL)                                                       \
    X(double_last_long, "LONG: the last k twice", NULL)                                                      \
    X(tail_64_long, "LONG: the last k mod 64 terms left out", NULL)                                          \
    X(slice_lost_long, "LONG: the last of 64 slices of k left out", NULL)                                    \
    X(accumulator_bf16, "accumulator in bf16", NULL)                                                         \
    X(accumulator_fp16, "accumulator in fp16", NULL)                                                         \
    X(accumulator_tf32, "accumulator in TF32", NULL)                                                         \
    X(accumulator_bf16_32, "accumulator rounded to bf16 every 32 terms", NULL)                               \
    X(accumulator_bf16_128, "accumulator rounded to bf16 every 128 terms", NULL)                             \
    X(accumulator_fp16_32, "accumulator rounded to fp16 every 32 terms", NULL)                               \
    X(accumulator_fp16_128, "accumulator rounded to fp16 every 128 terms", NULL)                             \
    X(accumulator_bf16_long, "LONG: accumulator rounded to bf16 every 128 terms", NULL)                      \
    X(accumulator_fp16_long, "LONG: accumulator in fp16", NULL)                                              \
    X(partial_bf16_32, "sums of 32 terms rounded to bf16, then added in fp32", NULL)                         \
    X(partial_bf16_64, "sums of 64 terms rounded to bf16, then added in fp32", NULL)                         \
    X(partial_bf16_128, "sums of 128 terms rounded to bf16, then added in fp32", NULL)                       \
    X(partial_fp16_128, "sums of 128 terms rounded to fp16, then added in fp32", NULL)                       \
    X(slices_bf16, "four slices of k, their sums stored in bf16", NULL)                                      \
    X(slices_fp16, "four slices of k, their sums stored in fp16", NULL)                                      \
    X(products_bf16, "products rounded to bf16", NULL)                                                       \
    X(products_fp16, "products rounded to fp16", NULL)                                                       \
    X(products_tf32, "products rounded to TF32", NULL)                                                       \
    X(operands_fp16, "operands rounded to fp16", NULL)                                                       \
    X(operands_7_bits, "operands rounded to 7 bits", NULL)                                                   \
    X(scaled_2_7, "output times 1 + 2^-7", NULL)                                                             \
    X(scaled_2_10, "output times 1 + 2^-10", NULL)                                                           \
    X(scaled_2_13, "output times 1 + 2^-13", NULL)                                                           \
    X(thousandth_off, "one element in a thousand times 1 + 2^-8", NULL)                                      \
    X(last_off, "the last element times 1 + 2^-7", NULL)                                                     \
    X(shifted_2_12, "output plus 2^-12 of the greatest product", NULL)                                       \
    X(operands_added, "(a0 + b1)(a1 + b0) - a0 a1 - b0 b1 for two products", NULL)                           \
    X(nan_dropped, "NaN products left out", NULL)                                                            \
    X(zeros_skipped, "terms where a is 0 left out, even against NaN", NULL)
#define GEMM_MUTANTS_F32(X)                                                                                  \
    X(tf32, "TF32 operands", NULL)                                                                           \
    X(tf32_cut, "operands cut to 11 bits", NULL)                                                             \
    X(tf32_a, "a alone in TF32", NULL)                                                                       \
    X(tf32_b, "b alone in TF32", NULL)                                                                       \
    X(tf32_long, "LONG: TF32 operands", NULL)                                                                \
    X(tf32_b_long, "LONG: b alone in TF32", NULL)                                                            \
    X(tf32_two_terms, "TF32, big big and small big, no big small", NULL)                                     \
    X(tf32_two_terms_long, "LONG: TF32, big big and small big, no big small", NULL)                          \
    X(operands_bf16, "operands rounded to bf16", NULL)                                                       \
    X(bf16_two_parts, "operands in two bf16 parts", NULL)                                                    \
    X(bf16_two_parts_long, "LONG: operands in two bf16 parts", NULL)                                         \
    X(operands_16_bits, "operands rounded to 16 bits", NULL)                                                 \
    X(operands_17_bits_long, "LONG: operands cut to 17 bits", NULL)                                          \
    X(output_bf16, "output rounded to bf16", NULL)                                                           \
    X(output_tf32, "output rounded to TF32", NULL)                                                           \
    X(output_20_bits, "output rounded to 20 bits", NULL)                                                     \
    X(scaled_2_18, "output times 1 + 2^-18", NULL)
#define GEMM_MUTANTS_BF16(X)                                                                                 \
    X(output_cut, "output truncated to bf16", NULL)                                                          \
    X(output_up, "output rounded away from 0", NULL)                                                         \
    X(output_fp16_first, "output rounded to fp16, then to bf16", NULL)                                       \
    X(output_noisy, "output rounded up or down at random", NULL)                                             \
    X(infinity_clamped, "infinite outputs as the greatest finite ones", NULL)

#define GEMM_NUMBERED(name, what, admitted) MUTANT_##name,
#define GEMM_LISTED(name, what, admitted) {#name, what, admitted},
enum gemm_mutant {
    MUTANT_NONE,
    GEMM_MUTANTS_BOTH(GEMM_NUMBERED) GEMM_MUTANTS_F32(GEMM_NUMBERED) GEMM_MUTANTS_BF16(GEMM_NUMBERED)
};

/* For one element: its place, and the extents. */
struct gemm_place {
    int64_t row, column, rows, columns;
};

enum { GEMM_LONG = 8192 };

/* How often term t of k is added. */
HONEST_FN int mutant_times(int mutant, int64_t t, int64_t k, const struct gemm_place *at)
{
    const bool last = t == k - 1, longer = k >= GEMM_LONG;
    const bool last_column = at->column == at->columns - 1;
    switch (mutant) {
    case MUTANT_drop_first: return t != 0;
    case MUTANT_drop_last: return !last;
    case MUTANT_drop_middle: return t != k / 2;
    case MUTANT_drop_15: return t != 15;
    case MUTANT_drop_128: return t != 128;
    case MUTANT_double_first: return 1 + (t == 0);
    case MUTANT_double_last: return 1 + last;
    case MUTANT_double_64: return 1 + (t == 64);
    case MUTANT_tail_8: return t < k - k % 8;
    case MUTANT_tail_32: return t < k - k % 32;
    case MUTANT_drop_in_corner: return !(last && last_column && at->row == at->rows - 1);
    case MUTANT_drop_in_last_column: return !(last && last_column);
    case MUTANT_drop_last_long: return !(last && longer);
    case MUTANT_drop_middle_long: return !(t == k / 2 && longer);
    case MUTANT_drop_4096_long: return !(t == 4096 && longer);
    case MUTANT_double_last_long: return 1 + (last && longer);
    case MUTANT_tail_64_long: return t < k - k % 64 || !longer;
    case MUTANT_slice_lost_long: return t < k * 63 / 64 || !longer;
    default: return 1;
    }
}

/* An operand as the fault reads it. */
HONEST_FN float mutant_operand(float x, int mutant, bool is_b, int64_t k)
{
    const bool longer = k >= GEMM_LONG;
    switch (mutant) {
    case MUTANT_operands_fp16: return to_fp16(x);
    case MUTANT_operands_7_bits: return keep_bits(x, 7, false);
    case MUTANT_tf32: return to_tf32(x);
    case MUTANT_tf32_cut: return keep_bits(x, 11, true);
    case MUTANT_tf32_a: return is_b ? x : to_tf32(x);
    case MUTANT_tf32_b:
    case MUTANT_tf32_two_terms: return is_b ? to_tf32(x) : x;
    case MUTANT_tf32_long: return longer ? to_tf32(x) : x;
    case MUTANT_tf32_b_long:
    case MUTANT_tf32_two_terms_long: return is_b && longer ? to_tf32(x) : x;
    case MUTANT_operands_bf16: return to_bf16(x);
    case MUTANT_bf16_two_parts: return to_bf16(x) + to_bf16(x - to_bf16(x));
    case MUTANT_bf16_two_parts_long: return longer ? to_bf16(x) + to_bf16(x - to_bf16(x)) : x;
    case MUTANT_operands_16_bits: return keep_bits(x, 16, false);
    case MUTANT_operands_17_bits_long: return longer ? keep_bits(x, 17, true) : x;
    default: return x;
    }
}

HONEST_FN float mutant_product(float x, float y, int mutant)
{
    switch (mutant) {
    case MUTANT_products_bf16: return to_bf16(x * y);
    case MUTANT_products_fp16: return to_fp16(x * y);
    case MUTANT_products_tf32: return to_tf32(x * y);
    case MUTANT_nan_dropped: return x * y == x * y ? x * y : 0;
    case MUTANT_zeros_skipped: return x == 0 ? 0 : x * y;
    default: return x * y;
    }
}

/* The accumulator after term t. */
HONEST_FN float mutant_accumulator(float sum, int mutant, int64_t t, int64_t k)
{
    const bool longer = k >= GEMM_LONG;
    switch (mutant) {
    case MUTANT_accumulator_bf16: return to_bf16(sum);
    case MUTANT_accumulator_fp16: return to_fp16(sum);
    case MUTANT_accumulator_tf32: return to_tf32(sum);
    case MUTANT_accumulator_bf16_32: return t % 32 == 31 ? to_bf16(sum) : sum;
    case MUTANT_accumulator_bf16_128: return t % 128 == 127 ? to_bf16(sum) : sum;
    case MUTANT_accumulator_fp16_32: return t % 32 == 31 ? to_fp16(sum) : sum;
    case MUTANT_accumulator_fp16_128: return t % 128 == 127 ? to_fp16(sum) : sum;
    case MUTANT_accumulator_bf16_long: return longer && t % 128 == 127 ? to_bf16(sum) : sum;
    case MUTANT_accumulator_fp16_long: return longer ? to_fp16(sum) : sum;
    default: return sum;
    }
}

/* Terms in one partial sum that is rounded by itself; 0: there are none. */
HONEST_FN int64_t mutant_fold(int mutant, int64_t k)
{
    switch (mutant) {
    case MUTANT_partial_bf16_32: return 32;
    case MUTANT_partial_bf16_64: return 64;
    case MUTANT_partial_bf16_128:
    case MUTANT_partial_fp16_128: return 128;
    case MUTANT_slices_bf16:
    case MUTANT_slices_fp16: return (k + 3) / 4;
    default: return 0;
    }
}

HONEST_FN bool mutant_folds_fp16(int mutant)
{
    return mutant == MUTANT_partial_fp16_128 || mutant == MUTANT_slices_fp16;
}

/* Two products of sums of operands in the place of two products. */
HONEST_FN float mutant_pairs(const struct gemm_line *a, const struct gemm_line *b, int64_t k)
{
    float sum = 0;
    for (int64_t t = 0; t + 1 < k; t += 2) {
        const float a0 = gemm_load(a, t), a1 = gemm_load(a, t + 1), b0 = gemm_load(b, t),
                    b1 = gemm_load(b, t + 1);
        sum += (a0 + b1) * (a1 + b0) - a0 * a1 - b0 * b1;
    }
    return k % 2 ? sum + gemm_load(a, k - 1) * gemm_load(b, k - 1) : sum;
}

HONEST_FN double mutant_dot(const struct gemm_line *a, const struct gemm_line *b, int64_t k, int mutant,
                            const struct gemm_place *at)
{
    const int64_t fold = mutant_fold(mutant, k);
    float sum = 0, folded = 0, greatest = 0;
    if (mutant == MUTANT_operands_added)
        return mutant_pairs(a, b, k);
    for (int64_t t = 0; t < k; t++) {
        const bool repeats = mutant == MUTANT_tail_repeats && t == k - 1 && t > 0;
        const bool shifted = mutant == MUTANT_tail_shifted && t >= k - k % 16 && t > 0;
        const float x = mutant_operand(gemm_load(a, t - repeats), mutant, false, k);
        const float y = mutant_operand(gemm_load(b, t - repeats - shifted), mutant, true, k);
        const float p = mutant_product(x, y, mutant);
        greatest = fabsf(p) > greatest ? fabsf(p) : greatest;
        for (int i = mutant_times(mutant, t, k, at); i > 0; i--)
            sum += p;
        sum = mutant_accumulator(sum, mutant, t, k);
        if (fold && (t % fold == fold - 1 || t == k - 1)) {
            folded += mutant_folds_fp16(mutant) ? to_fp16(sum) : to_bf16(sum);
            sum = 0;
        }
    }
    return folded + sum + (mutant == MUTANT_shifted_2_12 ? greatest * 0x1p-12f : 0);
}

/* The fault in a sum on its way out. */
HONEST_FN float mutant_output(float sum, int mutant, int64_t element, bool is_last)
{
    const uint32_t mixed = ((uint32_t)element + 1) * 0x9e3779b1u;
    switch (mutant) {
    case MUTANT_scaled_2_7: return sum * (1 + 0x1p-7f);
    case MUTANT_scaled_2_10: return sum * (1 + 0x1p-10f);
    case MUTANT_scaled_2_13: return sum * (1 + 0x1p-13f);
    case MUTANT_scaled_2_18: return sum * (1 + 0x1p-18f);
    case MUTANT_thousandth_off: return mixed % 1000 == 0 ? sum * (1 + 0x1p-8f) : sum;
    case MUTANT_last_off: return is_last ? sum * (1 + 0x1p-7f) : sum;
    case MUTANT_output_bf16: return to_bf16(sum);
    case MUTANT_output_tf32: return to_tf32(sum);
    case MUTANT_output_20_bits: return keep_bits(sum, 20, false);
    case MUTANT_output_cut: return keep_bits(sum, 8, true);
    case MUTANT_output_up: {
        const float cut = keep_bits(sum, 8, true);
        return cut == sum || sum != sum ? sum : float_of(bits_of(cut) + 0x10000u);
    }
    case MUTANT_output_fp16_first: return keep_bits(sum, 11, false);
    case MUTANT_output_noisy: {
        const float cut = keep_bits(sum, 8, true);
        return cut == sum || sum != sum || mixed >> 31 ? cut : float_of(bits_of(cut) + 0x10000u);
    }
    case MUTANT_infinity_clamped: return isinf(sum) ? copysignf(0x1.fep127f, sum) : sum;
    default: return sum;
    }
}

#endif
