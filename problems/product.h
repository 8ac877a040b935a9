/* Inputs of problems that are matrix products at heart, sum_k a(i, k) b(j, k): one way to draw each input
 * class for all of them. */
#ifndef UNSEEN_PRODUCT_H
#define UNSEEN_PRODUCT_H

#include "problem.h"

/* One operand: element (row, depth) lies at row / inner * outer + row % inner * row_step +
 * depth * depth_step of its tensor. For a plain matrix inner is the number of rows. */
struct operand {
    struct fill *fill;
    int64_t rows, inner, outer, row_step, depth_step;
};

/* A plain matrix of `rows` rows that each hold the `k` terms of a sum: [rows, k], or, `across`, the
 * transposed [k, rows]. */
struct operand product_operand(struct fill *fill, int64_t rows, int64_t k, bool across);

int64_t product_place(const struct operand *o, int64_t row, int64_t depth); /* flat, in the tensor */

/* Sparse small integers. The density keeps sums within a few hundred: exact in fp32, in a 13-bit aligned
 * accumulator and, mostly, in a bf16 result itself, so that a single term dropped, doubled or misplaced
 * shows. The corners that tails forget are never zero. */
void product_integers(struct operand a, struct operand b, int64_t k, struct random *random);

/* Over those, large terms at the last k, at tile edges and at random places: still exact. */
void product_needles(struct operand a, struct operand b, int64_t k, struct random *random);

/* The same where operands hold more bits: some 40 of the terms have an odd integer of 13 to 18 bits in one operand
 * against +-1 in the other, the long ones in a and in b at every second k by turns. The sum of magnitudes stays below
 * 2^23, so that every fp32 sum is exact, also of products in three TF32 terms or of three bf16 parts each; TF32 or two
 * bf16 parts for an operand, for a or b alone, are not. `needles`: more of them at the last k and at tile edges. */
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

/* A few NaN in both operands, and with `infinities` as many infinite values; the rest N(0, .). About one
 * row in three has one, so that every output still has defined neighbours. */
void product_special(struct operand a, struct operand b, int64_t k, bool infinities);

#endif
