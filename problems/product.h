/* Input classes of problems that are matrix products, sum_k a(i, k) b(j, k): one implementation for all of
 * them. */
#ifndef UNSEEN_PRODUCT_H
#define UNSEEN_PRODUCT_H

#include "problem.h"

/* Layout of one operand: element (row, depth) is at row / inner * outer + row % inner * row_step + depth *
 * depth_step of its tensor. For a plain matrix inner is the number of rows. */
struct operand {
    struct fill *fill;
    int64_t rows, inner, outer, row_step, depth_step;
};

/* The operand of a plain matrix with `rows` rows of `k` terms: stored as [rows, k], or with `across`
 * transposed as [k, rows]. */
struct operand product_operand(struct fill *fill, int64_t rows, int64_t k, bool across);

int64_t product_place(const struct operand *o, int64_t row, int64_t depth); /* flat index in the tensor */

/* Sparse small integers. The density keeps sums within a few hundred: exact in fp32, in a 13-bit aligned
 * accumulator and mostly in a bf16 result. So a single term that is dropped, doubled or misplaced is found.
 * The corners that tail code tends to drop are never zero. */
void product_integers(struct operand a, struct operand b, int64_t k, struct random *random);

/* Adds large terms at the last k, at tile edges and at random places to product_integers; sums stay exact. */
void product_needles(struct operand a, struct operand b, int64_t k, struct random *random);

/* The same for operands with more bits. About 40 of the terms have an odd integer of 13 to 18 bits in one
 * operand and +-1 in the other. The long integers are in a and in b at alternating k. The sum of magnitudes
 * stays below 2^23. So every fp32 sum is exact, also for products in three TF32 terms or of three bf16 parts
 * each. TF32, or two bf16 parts for one operand, is not exact, for a or b alone. `needles`: more long
 * integers at the last k and at tile edges. */
void product_odd(struct operand a, struct operand b, int64_t k, bool needles, struct random *random);

/* Pairs of terms that nearly cancel, along the rows of `a`; b is positive. Fills for a table of classes. */
#define PRODUCT_CANCEL_A                                                                                     \
    {                                                                                                        \
        .kind = FILL_CANCEL, .b = 2                                                                          \
    }
#define PRODUCT_CANCEL_B                                                                                     \
    {                                                                                                        \
        .kind = FILL_UNIFORM, .a = 0.5f, .b = 2                                                              \
    }

/* A few NaN in both operands, and with `infinities` as many infinite values; the rest N(0, .). About a third
 * of the rows has one, so every output still has defined neighbours. */
void product_special(struct operand a, struct operand b, int64_t k, bool infinities);

#endif
