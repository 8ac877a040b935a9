/* The distribution of one tensor's values: a small record that problems write. gen/ evaluates it element by
 * element, with the same bits on host and GPU. */
#ifndef UNSEEN_FILL_H
#define UNSEEN_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "dtype.h"

enum fill_kind {
    FILL_GIVEN,    /* the values are in `given` (tables, lengths, offsets), multiplied by b unless b is 0 */
    FILL_CONSTANT, /* a */
    FILL_NORMAL,   /* mean a, standard deviation b; a sum of eight uniforms, so |z| < 4.9 */
    FILL_UNIFORM,  /* [a, b) */
    FILL_INTEGERS, /* nonzero with probability `density`: uniform among +-1..+-b */
    FILL_POWERS,   /* 2^e, e an integer uniform in [a, b]; random sign if `density` is 0 */
    FILL_WIDE,     /* +-2^e * [1,2), e uniform in [a, b] */
    /* along the last `inner`: even positions N(0, b); odd positions the negated preceding value, times 1 +-
     * 2^-6 */
    FILL_CANCEL,
    /* one of b values a + 0, 1, .. b-1, so there are many ties; with probability `density` the first or the
     * last of them */
    FILL_LEVELS,
    FILL_SORTED,     /* along the last `inner`: ascending from a to b for even rows, else descending */
    FILL_ROWS_EQUAL, /* one N(a, b) value for all elements of a row of `inner` */
    /* softmax rows of `inner`: one 0 (at position 0 in even rows, else anywhere), the rest a: many terms,
     * each below half an ulp of the running sum */
    FILL_DIGITS,
    FILL_EXTREME, /* N(0, b) with four entries of every row of `inner` set to a */
    /* N(0, b); each row of `inner` also has one of: a NaN, +inf, only -inf, some -inf, zeros of both signs
     * and subnormals, or nothing special */
    FILL_SPECIAL,
    /* N(0, b); with probability `density` an element is NaN or, if a is nonzero, one of NaN, +inf and -inf */
    FILL_NANS,
    FILL_NIBBLES, /* two 4-bit integers per byte, each N(a, b) rounded to the nearest of 0..15 */
    FILL_MOSTLY,  /* a with probability 1 - density, else one of the integers 0..b-1 */
    FILL_SIGNS,   /* +-b */
    FILL_ONEHOT,  /* rows of `inner`: b at one place, 0 elsewhere */
    /* like FILL_ONEHOT; the place lies in one of 32 equal parts of the row. Blocks of `block` elements use
     * these parts in turn, so no place repeats within 32 blocks */
    FILL_TURNS,
    /* N(0, b); beyond the first `early` elements of every block of `block`, the second half of each row of
     * `inner` is 0 */
    FILL_EARLY,
    FILL_FRACTIONS, /* 0, 1, or uniform between */
    /* log decays of rows of `inner` channels, one of four kinds per channel in turn: within 2^-10 below 0;
     * down to -8; -|N(0, 0.1)|; growing by up to a */
    FILL_CHANNELS,
    /* N(0, b); each row of `inner` also has some infinities of both signs, nearly all -inf, one +inf, or half
     * -inf */
    FILL_INFINITIES,
    FILL_CLUSTER, /* N(0, b), with 16 b added in one contiguous sixteenth of every row of `inner` */
    /* +-1 with probability `density`, else 0. Along `inner`, whose elements are `step` apart, every second
     * place (starting at a, 0 or 1) instead has an odd integer of 13 to 18 bits with probability b */
    FILL_ODD,
    FILL_ZEROS, /* zeros and subnormals of both signs */
    /* row r of `inner` elements is `b` times the elements of tensor `source` that start at start[r] */
    FILL_GATHER,
    /* N(0, b), and a at one place of every row of `inner`. Rows take turns: the last place, the first, the
     * last multiple of 32 or of 1024, any place */
    FILL_PEAK,
    /* parts of different size: 2^e N(0, 1), e an integer uniform in [a, b] per part; with probability 1 -
     * density a part is 0. The part of element i is (i / step) % inner: the elements at one place along one
     * dimension, or along the first ones */
    FILL_UNEVEN,
    /* consecutive floats in random order, of one sign, above one value per row of `inner`: as many as the row
     * is long in even rows, 2 to 64 in odd rows; subnormals in some */
    FILL_NEIGHBOURS,
    /* with probability `density` one of `level`, the thresholds of the problem's decisions: the value itself
     * in half of these, its neighbour below or above in a quarter each; else N(a, b). For integers always a
     * level itself, else one of b integers from a on */
    FILL_DECISION
};

enum { FILL_MAX_PLANTED = 16, FILL_MAX_LEVELS = 64 };

struct fill_planted {
    int64_t index;
    float value;
};

struct fill {
    enum fill_kind kind;
    float a, b, density;
    int64_t inner; /* row length, for kinds with rows */
    /* FILL_ODD, FILL_UNEVEN: see there. FILL_DECISION: distance of a neighbour in fp32 ulps. 0: one ulp of
     * the tensor's dtype. -1: integers. -2: no neighbours */
    int64_t step;
    int64_t block, early; /* for kinds with blocks of rows */

    bool
        /* the same in every input draw of a configuration: weights, which a caller of a model sets once */
        steady;

    /* FILL_DECISION: number of thresholds, as the tensor's dtype stores them; 0 and -0 count as two */
    int level_count;
    float level[FILL_MAX_LEVELS];

    int planted_count; /* single elements that overwrite the others: needles */
    struct fill_planted planted[FILL_MAX_PLANTED];

    int32_t *given; /* FILL_GIVEN: one value per element, allocated by malloc */
    bool floats;    /* FILL_GIVEN: the values are bits of floats */

    int source;     /* FILL_GATHER: index of the source tensor, which is no gather itself */
    int64_t *start; /* FILL_GATHER: one offset per row, allocated by malloc */
    int64_t starts;

    /* Undefined storage (slots past a sequence's end, pages that no table names) may hold anything. valid[p]
     * is the number of defined leading rows, of `garbage_row` elements each, in block p. The rest of each
     * block of `garbage_block` elements is NaN. NULL: all storage is defined. */
    int32_t *valid;
    int64_t valids;
    int64_t garbage_row, garbage_block;
};

#endif
