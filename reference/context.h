/* The interface of a problem's reference mathematics. Each problem's reference.h is compiled three times,
 * with REF_FN and the number type of the evaluation:
 *   reference/enclosure_host.c  doubles with a rigorous radius, on the host
 *   reference/enclosure_cuda.cu the same in kernels
 *   reference/witness.c         MPFR
 *
 * A lane is one of the threads that work on the same row or column: of a block or a warp on a GPU, of a team
 * for the witness; on the host there is one. A reference.h has one of six forms.
 *
 * A contraction, out[m, n] = sum_k a(m, k) b(n, k), judged tile by tile:
 *     #define REF_CONTRACTION
 *     ref_shape(c, shape)        shape = {m, n, k}
 *     ref_a(c, m, k), ref_b(c, n, k)    products must be exact in double, and within 2^-60..2^60
 *     ref_unit(c)                every product is a multiple of it (0: unknown)
 *     ref_finish(c, m, n, sum, e)       from the sum to the element
 *   REF_PLACED is for operands whose index takes divisions: a row and a term are placed once, and then serve
 *   all pairs:
 *     struct ref_row, ref_row_of(c, m); struct ref_term, ref_term_of(c, k)
 *     ref_a_of(c, row, term)                           equals ref_a(c, m, k)
 *   REF_SIZED adds ref_b_size(c, n, k), which scales the errors in place of |b|; sum[1] has its sums.
 *   REF_INDEXED is for outputs whose layout is not [m, n]; it adds both directions of the layout:
 *     ref_index(c, m, n), ref_place_of(c, index, place)                 place = {m, n}
 *   REF_GROUPED and REF_SUMS s are for groups of rows with a b of their own, and outputs of s sums each:
 *     ref_groups(c), ref_group_first(c, g)     group g has the rows from its first to the next one's
 *     ref_b(c, g, part, n, k)
 *
 * By rows; all lanes work on one row:
 *     ref_rows(c), ref_width(c)  outputs are [rows, width]
 *     ref_scratch(c)             numbers of scratch per row
 *     ref_prepare(c, row, scratch, state)              lanes cooperate
 *     ref_elements(c, row, first, count, scratch, state, e)  each lane alone, count <= REF_BLOCK
 *   It may use num and acc, and also
 *     ref_dots_bf16(c, t, i, u, j, rows, n, out)  for up to REF_GROUP rows r: out[r] is the sum of n products
 *                                of elements of tensors t and u, starting at i and j[r]; each product must
 *                                be 0 or within 2^-60..2^60
 *     block_add_bf16(block, c, w, extra, t, i, rows, count)  adds to REF_BLOCK sums at once, for up to
 *                                REF_GROUP rows r: w[r] times element i[r] + j of tensor t; separately it
 *                                sums extra[r] |element|
 *
 * By rows whose elements are right or wrong, without a distance (bitset.h):
 *     #define REF_DISCRETE
 *     ref_rows, ref_width, ref_scratch, ref_prepare as above
 *     ref_verdict(c, row, j, scratch, state)           reads all outputs; replaces ref_error, too
 *
 * A recurrence: columns of a state, carried from step to step (recurrence.h):
 *     #define REF_RECURRENCE
 *     ref_chains(c), ref_steps(c), ref_columns(c), ref_state_rows(c)
 *     ref_index(c, chain, step, column), ref_place_of(c, index)      layout of the output of a step
 *     ref_step(c, chain, step, first, count, driven, rows, carry, s) rows are shared by lanes
 *     ref_element_of(c, s, carry, j, e)
 *
 * By elements, each computed from a bounded window or gather:
 *     #define REF_ELEMENTS
 *     ref_count(c)               number of outputs, in memory order
 *     ref_element(c, index, e)   one lane alone, with num and acc
 *
 * By folds (reductions): few outputs, each computed from very many terms:
 *     #define REF_FOLD
 *     ref_folds(c), ref_terms(c, fold)                 number of outputs, and of terms of one
 *     struct ref_fold                                  partial result over some terms, with num and acc
 *     ref_fold_start(state)                            the empty partial result, neutral in a merge
 *     ref_fold_term(c, fold, i, state)                 adds a term; one lane alone
 *     ref_fold_merge(state, other)                     merges two partial results, in any order and grouping
 *     ref_fold_finish(c, fold, state, e)               must also accept a partial result
 *   REF_TOGETHER is for terms that are long loops: all lanes of a warp (one on the host) compute one term in
 *   ref_fold_term. REF_TERM_LANE of REF_TERM_LANES identifies the lane; ref_lane_max, ref_lane_sum and
 *   ref_lane_acc reduce. All lanes must end with the same state.
 *
 * Scattered reads (all forms but contractions): ref_touch announces reads to the witness, which may have to
 * copy them from a GPU. All lanes call it, and it must not use a barrier:
 *     #ifdef REF_TOUCH
 *     #define REF_TOUCHES
 *     ref_touch(c, row)                                reads of ref_prepare and ref_elements
 *     ref_touch(c, chain, first, end, column)          reads of steps first to end - 1
 *     ref_touch(c, index)                              reads of ref_element
 *     ref_touch(c, fold, first, end)                   reads of terms first to end - 1
 *     #endif
 *   REF_TOUCH(load, c, t, i, n) announces n elements of tensor t from i on; `load` is REF_BF16, ..
 *
 * Elements of tensors are loaded as doubles by REF_F32(c, t, i), REF_BF16, REF_F16, REF_E4M3, REF_E5M2 and
 * REF_F64; as integers by REF_I32, REF_I64, REF_I8, REF_U8, REF_BOOL; and as bits by REF_BITS32. `i` is an
 * offset in memory: the row pitch of a strided tensor is an argument of the reference. Outputs are numbered
 * without padding; judge_request has their layout.
 *
 * By rows whose results may share an offset that is larger than each element's own error:
 *     #define REF_SHIFTED
 *     ref_shift(e)               offset that is added to the exact value before the comparison
 *     ref_strain(e)              that offset relative to the allowed offset: at most 1, unless it is 0
 *
 * The context has an in-out tensor's contents before the call. If an element must keep its bits, the
 * reference sets e->kept to true and need not set e->value; otherwise e->kept is false. If an element of any
 * output must have the bits of another tensor's element of the same dtype, e->kept is REF_COPIED and
 * e->copied points to those bits (inside c->tensor[t]).
 *
 * If enclosures follow from the inputs alone, and not from the candidate's outputs, they can be stored for
 * the next candidate with the same inputs:
 *     #define REF_STORED n       n: the number of parts e->part[0 .. n - 1] that ref_error reads
 *
 * All forms have
 *     ref_error(c, a, e)         error allowed to arithmetic `a` before the output is rounded
 *     ref_cost(c)                number of terms of one witnessed element
 */
#ifndef UNSEEN_CONTEXT_H
#define UNSEEN_CONTEXT_H

#include "error.h"

struct ref_context {
    /* The arguments by number, with exactly the values that the candidate gets. */
    int64_t extent[PROBLEM_MAX_ARGUMENTS];
    double scalar[PROBLEM_MAX_ARGUMENTS];
    const void *tensor[PROBLEM_MAX_TENSORS];
    enum data_kind data;
    const float *e4m3; /* the 256 values of an e4m3 byte (host); kernels convert in hardware */
    /* for the witness: copies tensors from the GPU page by page (device_pages.h); else NULL */
    void *fetcher;
    int64_t first_term, end_term; /* for a fold: sum only these terms, for an audit; 0, 0: all terms */
};

enum { REF_PARTS = 8 };

/* The compilation for problem P exports judge_host_P and similar names; for an output O with its own
 * judgement, judge_host_P_O. */
#define REF_JOIN_EXPANDED(a, b) a##_##b
#define REF_JOIN(a, b) REF_JOIN_EXPANDED(a, b)
#ifdef REF_OUTPUT
#define REF_NAME(x) REF_JOIN(REF_JOIN(x, REF_PROBLEM), REF_OUTPUT)
#else
#define REF_NAME(x) REF_JOIN(x, REF_PROBLEM)
#endif

/* The number of doubles of a stored enclosure with that many parts (enclosure_store.h). */
#define REF_STORED_DOUBLES(parts) (3 + (parts))

/* Values of e->kept: 0, the element is computed; 1 (true), an element of an in-out tensor must keep its bits;
 * or REF_COPIED. */
enum { REF_COPIED = 2 };

#define REF_DECLARE_ELEMENT                                                                                  \
    struct ref_element {                                                                                     \
        num value;              /* the exact result */                                                       \
        int kept;               /* the element keeps its bits or has copied bits: `value` is unused */       \
        const void *copied;     /* for REF_COPIED: address of the bits */                                    \
        double part[REF_PARTS]; /* inputs of ref_error; each problem names its own */                        \
    }

#endif
