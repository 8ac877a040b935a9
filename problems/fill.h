/* How one tensor's values are drawn: a small record that problems write and gen/ evaluates, element
 * by element, with the same bits on the host and on the GPU. */
#ifndef UNSEEN_FILL_H
#define UNSEEN_FILL_H

#include <stdbool.h>
#include <stdint.h>

enum dtype {
    DTYPE_F32,
    DTYPE_BF16,
    DTYPE_E4M3,
    DTYPE_I32,
    DTYPE_I64,
    DTYPE_U8,
    DTYPE_F64,
    DTYPE_F16,
    DTYPE_E5M2,
    DTYPE_I8,
    DTYPE_BOOL /* a byte, 0 or 1 */
};

enum fill_kind {
    FILL_GIVEN,    /* the values are in `given` (tables, lengths, offsets); where b is not 0, times b */
    FILL_CONSTANT, /* a */
    FILL_NORMAL,   /* mean a, standard deviation b; a sum of eight uniforms, so |z| < 4.9 */
    FILL_UNIFORM,  /* [a, b) */
    FILL_INTEGERS, /* nonzero with probability `density`: uniform among +-1..+-b */
    FILL_POWERS,   /* 2^e, e an integer uniform in [a, b]; random sign when `density` is 0 */
    FILL_WIDE,     /* +-2^e * [1,2), e uniform in [a, b] */
    FILL_CANCEL,   /* along the last `inner`: even positions N(0, b); odd ones the negative of the
                     * one before, times 1 +- 2^-6 */
    FILL_LEVELS, /* one of b values a + 0, 1, .. b-1: heavy ties; with probability `density` the first or the last of them */
    FILL_SORTED,     /* along the last `inner`: ascending from a to b for even rows, else descending */
    FILL_ROWS_EQUAL, /* one N(a, b) value for a whole row of `inner` */
    FILL_DIGITS,     /* softmax rows of `inner`: one 0 (position 0 in even rows, else anywhere), the
                     * rest a: many terms, each below half an ulp of the running sum */
    FILL_EXTREME,    /* N(0, b) with four entries of every row of `inner` set to a */
    FILL_SPECIAL,    /* N(0, b); by row of `inner`: a NaN, +inf, only -inf, some -inf, zeros of both
                     * signs and subnormals, or nothing special */
    FILL_NANS,       /* N(0, b), about one element in `density`^-1 is NaN or, with a nonzero, one of NaN,
                     * +inf and -inf */
    FILL_NIBBLES,    /* two 4-bit integers a byte, each N(a, b) rounded to the nearest of 0..15 */
    FILL_MOSTLY,     /* a with probability 1 - density, else one of the integers 0..b-1 */
    FILL_SIGNS,      /* +-b */
    FILL_ONEHOT,     /* rows of `inner`: b at one place, 0 elsewhere */
    FILL_TURNS,      /* the same, the place in one of 32 equal parts of the row, which blocks of `block`
                     * elements use in turn: no place comes twice within 32 blocks */
    FILL_EARLY,      /* N(0, b); beyond the first `early` elements of every block of `block` the second half
                     * of each row of `inner` is 0 */
    FILL_FRACTIONS,  /* 0, 1, or between */
    FILL_CHANNELS,   /* log decays of rows of `inner` channels, by channel in turn: within 2^-10 below 0; down
                     * to -8; -|N(0, 0.1)|; growing by up to a */
    FILL_INFINITIES, /* N(0, b); by row of `inner`: some infinities of both signs, nearly all -inf, one +inf,
                     * or half -inf */
    FILL_CLUSTER,    /* N(0, b), and 16 b more in one stretch of a sixteenth of every row of `inner` */
    FILL_ODD,   /* nonzero with probability `density`, +-1; along `inner`, whose elements lie `step` apart, at
                     * every second place (from a, 0 or 1, on) with probability b an odd integer of 13 to 18 bits */
    FILL_ZEROS, /* zeros and subnormals of both signs */
    FILL_GATHER, /* row r of `inner` elements is `b` times the elements of tensor `source` that
                     * start at start[r] */
    FILL_PEAK, /* N(0, b), and a at one place of every row of `inner`: the last in every fourth row, the first,
                     * the last multiple of 32 or of 1024, or anywhere in the others */
    FILL_UNEVEN, /* parts of unlike size: 2^e N(0, 1), e an integer uniform in [a, b] for a whole part; with probability 1 - density a
                     * part is all 0. Part (i / step) % inner: what lies at one place along one dimension, or along the first ones */
    FILL_NEIGHBOURS, /* consecutive floats in any order, of one sign and from one value on for a row of `inner`: as
                     * many as the row is long in even rows, 2 to 64 in odd ones; subnormals in some */
    FILL_DECISION /* with probability `density` one of `level`, at which the mathematics decides: in a half of
                     * these the value itself, in a quarter each its neighbour below and above; else N(a, b). Of whole
                     * numbers always a level itself, else one of b integers from a on */
};

enum { FILL_MAX_PLANTED = 16, FILL_MAX_LEVELS = 64 };

struct fill_planted {
    int64_t index;
    float value;
};

struct fill {
    enum fill_kind kind;
    float a, b, density;
    int64_t inner;        /* row length, where the kind has rows */
    int64_t step;         /* FILL_ODD, FILL_UNEVEN; FILL_DECISION: a neighbour is so many units of fp32's last
                           * place away. 0: one unit of the tensor's type. -1: whole numbers. -2: no neighbours */
    int64_t block, early; /* where the kind has blocks of rows */

    bool
        steady; /* the same in every content of a configuration: weights, which whoever calls a model has once */

    int level_count; /* FILL_DECISION: thresholds, as the tensor's type holds them; 0 and -0 are two of them */
    float level[FILL_MAX_LEVELS];

    int planted_count; /* single elements overwritten last: needles */
    struct fill_planted planted[FILL_MAX_PLANTED];

    int32_t *given; /* FILL_GIVEN: one value per element, malloced */
    bool floats;    /* FILL_GIVEN: they are the bits of floats */

    int source;     /* FILL_GATHER: index of the source tensor, itself not a gather */
    int64_t *start; /* FILL_GATHER: one offset per row, malloced */
    int64_t starts;

    /* Storage that no defined element uses (slots past a sequence's end, pages that no table names)
     * may hold anything. valid[p] counts the leading rows of `garbage_row` elements that are real in
     * block p; the rest of each block of `garbage_block` elements is NaN. NULL: all is real. */
    int32_t *valid;
    int64_t valids;
    int64_t garbage_row, garbage_block;
};

#endif
