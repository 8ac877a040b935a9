/* What the reference mathematics of a problem is given, and what it gives back. A problem's
 * reference.h is compiled three times, with REF_FN and the number type of the evaluation at hand:
 *   reference/enclosure_host.c  doubles with a rigorous radius, on the host
 *   reference/enclosure_cuda.cu the same in kernels
 *   reference/witness.c         MPFR
 *
 * It says which of six forms it has.
 *
 * A contraction, out[m, n] = sum_k a(m, k) b(n, k), judged tile by tile:
 *     #define REF_CONTRACTION
 *     ref_shape(c, shape)        shape = {m, n, k}
 *     ref_a(c, m, k), ref_b(c, n, k)    products must be exact in double, and within 2^-60..2^60
 *     ref_unit(c)                every product is a multiple of it (0: unknown)
 *     ref_finish(c, m, n, sum, e)       from the sum to the element
 *   With REF_SIZED also ref_b_size(c, n, k), what scales the errors in the place of |b|; sum[1] has its sums.
 *   With REF_INDEXED the output is not [m, n]: it says where that element lies, and which one lies at an index:
 *     ref_index(c, m, n), ref_place_of(c, index, place)                 place = {m, n}
 *   With REF_GROUPED and REF_SUMS s, groups of rows have a b of their own and outputs s sums each:
 *     ref_groups(c), ref_group_first(c, g)     group g has the rows from its first to the next one's
 *     ref_b(c, g, part, n, k)
 *
 * By rows, with all lanes of a block (or the one lane of a host thread) at one row:
 *     ref_rows(c), ref_width(c)  outputs are [rows, width]
 *     ref_scratch(c)             numbers that one row needs
 *     ref_prepare(c, row, scratch, state)              lanes cooperate
 *     ref_elements(c, row, first, count, scratch, state, e)  each lane alone, count <= REF_BLOCK
 *   with, besides num and acc,
 *     ref_dots_bf16(c, t, i, u, j, rows, n, out)  of up to REF_GROUP rows, out[r]: the sum of n products of elements
 *                                of tensors t and u, from i and j[r] on, each 0 or within 2^-60..2^60
 *     block_add_bf16(block, c, w, extra, t, i, rows, count)  to REF_BLOCK sums at a time, of up to REF_GROUP rows r
 *                                w[r] times element i[r] + j of tensor t; beside them the sums of
 *                                extra[r] |element|
 *
 * By rows that are right or not, with no distance in between (marks.h):
 *     #define REF_DISCRETE
 *     ref_rows, ref_width, ref_scratch, ref_prepare as above
 *     ref_verdict(c, row, j, scratch, state)           sees all outputs; takes the place of ref_error, too
 *
 * A recurrence, columns of a state carried from step to step (recurrence.h):
 *     #define REF_RECURRENCE
 *     ref_chains(c), ref_steps(c), ref_columns(c), ref_state_rows(c)
 *     ref_index(c, chain, step, column), ref_place_of(c, index)      where the output of a step lies
 *     ref_step(c, chain, step, first, count, driven, rows, carry, s) REF_COLUMNS columns, rows dealt to lanes
 *     ref_element_of(c, s, carry, j, e)
 *
 * By elements, each from a window or a gather that is bounded:
 *     #define REF_ELEMENTS
 *     ref_count(c)               outputs are numbered as they lie
 *     ref_element(c, index, e)   one lane alone, with num and acc
 *
 * By folds, few outputs that everything goes into:
 *     #define REF_FOLD
 *     ref_folds(c), ref_terms(c, fold)                 output `fold` has so many terms; one may itself be a loop
 *     struct ref_fold                                  what is known of some of the terms, with num and acc
 *     ref_fold_start(state)                            of none: merging it changes nothing
 *     ref_fold_term(c, fold, i, state)                 of one more; one lane alone
 *     ref_fold_merge(state, other)                     of both; any order of terms, any grouping
 *     ref_fold_finish(c, fold, state, e)               also of some of the terms alone
 *   With REF_TOGETHER, for terms that are long loops, ref_fold_term has all lanes of a warp (or the one of a host thread) at
 *   a term: REF_TERM_LANE of REF_TERM_LANES, with ref_lane_max, ref_lane_sum and ref_lane_acc; all end up with one state.
 *
 * By rows, elements, folds and as a recurrence, where what is read lies scattered over a tensor: the witness, for which
 * it may have to come over from a GPU, is told in advance. All lanes are at it, and no barrier is allowed:
 *     #ifdef REF_TOUCH
 *     #define REF_TOUCHES
 *     ref_touch(c, row)                                what ref_prepare and ref_elements will read
 *     ref_touch(c, chain, first, end, column)          what the steps from first to end - 1 will
 *     ref_touch(c, index)                              what ref_element will
 *     ref_touch(c, fold, first, end)                   what the terms from first to end - 1 will
 *     #endif
 *   with REF_TOUCH(load, c, t, i, n), n elements of tensor t from i on, `load` being REF_BF16 or another
 *
 * Elements of tensors are read by REF_F32(c, t, i), REF_BF16, REF_F16, REF_E4M3, REF_E5M2 and REF_F64, doubles; REF_I32,
 * REF_I64, REF_I8, REF_U8, REF_BOOL; and REF_BITS32. `i` counts memory: where rows of a tensor lie apart, the reference
 * gets how far as an argument. Outputs are numbered without the gaps; judge_request says where they lie.
 *
 * By rows, where all results of a row may be off together by more than each by itself:
 *     #define REF_SHIFTED
 *     ref_shift(e)               what is added to the exact value before the candidate's is held against it
 *     ref_strain(e)              how much of what is allowed of that is taken: at most 1 where it is not 0
 *
 * An in-out tensor is in the context as it was before the call. Where an element of it must keep its bits, e->kept is
 * set to true and e->value is not needed; it is false otherwise. An element of any output that must have the very bits
 * of another tensor's, of the same type, has REF_COPIED there, and in e->copied where these lie (c->tensor[t] and on).
 *
 * In all forms
 *     ref_error(c, a, e)         what the arithmetic `a` may deviate before the output is rounded
 *     ref_cost(c)                terms that one witnessed element takes
 */
#ifndef UNSEEN_CONTEXT_H
#define UNSEEN_CONTEXT_H

#include "error.h"

struct ref_context {
    /* The arguments by number, with the very values that the candidate gets. */
    int64_t extent[PROBLEM_MAX_ARGUMENTS];
    double scalar[PROBLEM_MAX_ARGUMENTS];
    const void *tensor[PROBLEM_MAX_TENSORS];
    enum data_kind data;
    const float *e4m3;            /* the 256 values of an e4m3 byte (host); kernels convert in hardware */
    void *fetcher;                /* witness: brings tensors over from the GPU, piece by piece; else NULL */
    int64_t first_term, end_term; /* a fold: of these terms alone, for an audit; 0, 0: of all */
};

enum { REF_PARTS = 8 };

/* The compilation for problem P exports judge_host_P and the like; for its output O that is judged by itself,
 * judge_host_P_O. */
#define REF_JOIN_EXPANDED(a, b) a##_##b
#define REF_JOIN(a, b) REF_JOIN_EXPANDED(a, b)
#ifdef REF_OUTPUT
#define REF_NAME(x) REF_JOIN(REF_JOIN(x, REF_PROBLEM), REF_OUTPUT)
#else
#define REF_NAME(x) REF_JOIN(x, REF_PROBLEM)
#endif

/* What e->kept is: 0, the element is computed; 1 or true, of an in-out tensor, it keeps its bits; or REF_COPIED. */
enum { REF_COPIED = 2 };

#define REF_DECLARE_ELEMENT                                                                                  \
    struct ref_element {                                                                                     \
        num value;              /* the exact result */                                                       \
        int kept;               /* it keeps its bits, or has others': `value` says nothing */                \
        const void *copied;     /* REF_COPIED: whose */                                                      \
        double part[REF_PARTS]; /* what ref_error needs; each problem names its own */                       \
    }

#endif
