/* The witness of one judgement: evaluates its reference.h over MPFR, one element at a time. It also exports
 * the judgement's table. Compiled once per judgement with REF_PROBLEM and REF_HEADER, and with REF_OUTPUT if
 * it judges that output only. */
#include <omp.h>
#include <stdlib.h>

#include "../problems/format.h"
#include "judge.h"
#include "num_mpfr.h"

#define REF_FN static inline __attribute__((unused))
#define REF_LANE omp_get_thread_num()
#define REF_LANES omp_get_num_threads()
#define REF_LANES_LEAST 1
#define REF_TERM_LANE 0
#define REF_TERM_LANES 1
#define REF_BLOCK 1
#define REF_GROUP 1
#define REF_COLUMNS 1
#define REF_OWN 1
#define REF_F32(c, t, i) ((double)*(const float *)witness_read(c, t, i, 4))
#define REF_U8(c, t, i) (*(const uint8_t *)witness_read(c, t, i, 1))
#define REF_BITS32(c, t, i) (*(const uint32_t *)witness_read(c, t, i, 4))
#define REF_E4M3(c, t, i) ((double)(c)->e4m3[*(const uint8_t *)witness_read(c, t, i, 1)])
#define REF_BF16(c, t, i) ((double)single_from_bf16(*(const uint16_t *)witness_read(c, t, i, 2)))
#define REF_F16(c, t, i) ((double)single_from_f16(*(const uint16_t *)witness_read(c, t, i, 2)))
#define REF_E5M2(c, t, i) ((double)single_from_e5m2(*(const uint8_t *)witness_read(c, t, i, 1)))
#define REF_E2M1(c, t, i)                                                                                    \
    ((double)single_from_e2m1(*(const uint8_t *)witness_read(c, t, (i) / 2, 1) >> ((i) % 2 * 4) & 15))
#define REF_F64(c, t, i) (*(const double *)witness_read(c, t, i, 8))
#define REF_I8(c, t, i) (*(const int8_t *)witness_read(c, t, i, 1))
#define REF_BOOL(c, t, i) (*(const uint8_t *)witness_read(c, t, i, 1) != 0)
/* Block tables, lengths and offsets decide which other elements are read, so they are never recorded. */
#define REF_I32(c, t, i) (*(const int32_t *)witness_read_now(c, t, i, 4))
#define REF_I64(c, t, i) (*(const int64_t *)witness_read_now(c, t, i, 8))

/* Address of an element: in host memory, or fetched from the GPU on demand. */
REF_FN const void *witness_read(const struct ref_context *c, int tensor, int64_t index, int64_t size)
{
    if (c->fetcher)
        return device_pages_read(c->fetcher, tensor, index * size);
    return (const char *)c->tensor[tensor] + index * size;
}

/* The same, without recording. */
REF_FN const void *witness_read_now(const struct ref_context *c, int tensor, int64_t index, int64_t size)
{
    if (c->fetcher)
        return device_pages_read_now(c->fetcher, tensor, index * size);
    return (const char *)c->tensor[tensor] + index * size;
}

/* Touches elements [i, i + n) of a tensor, at least one in every page: a page holds 512 elements of 8
 * bytes. */
#define REF_TOUCH(load, c, t, i, n)                                                                          \
    do {                                                                                                     \
        for (int64_t touched = 0; touched < (n); touched += 512)                                             \
            (void)load(c, t, (i) + touched);                                                                 \
        (void)load(c, t, (i) + (n)-1);                                                                       \
    } while (0)

/* Fetches all data that `touch` reads from the GPU in one batch. */
#define FETCH(c, touch)                                                                                      \
    do {                                                                                                     \
        if ((c)->fetcher) {                                                                                  \
            device_pages_record((c)->fetcher);                                                               \
            touch;                                                                                           \
            device_pages_gather();                                                                           \
        }                                                                                                    \
    } while (0)

REF_DECLARE_ELEMENT;

/* An element with more terms uses all cores; with fewer terms, elements run in parallel. */
__attribute__((unused)) static const double expensive_terms = 2e5;

int REF_NAME(witness_list)(const struct judge_request *request, const struct judged *const *element,
                           struct witnessed *answer, int count);

#include "witness_team.h"

REF_FN void ref_dots_bf16(const struct ref_context *c, int t, int64_t i, int u, const int64_t *j, int rows,
                          int64_t n, struct acc *sum)
{
    (void)rows; /* REF_GROUP is 1 */
    *sum = acc_zero();
    for (int64_t l = 0; l < n; l++)
        acc_add_product(sum, REF_BF16(c, t, i + l), REF_BF16(c, u, *j + l));
}

struct block {
    struct acc acc;
    double extra[REF_BLOCK];
};

REF_FN struct block block_zero(void)
{
    return (struct block){.acc = acc_zero()};
}

REF_FN struct acc block_acc(const struct block *b, int64_t j)
{
    (void)j;
    return b->acc;
}

REF_FN void block_add_bf16(struct block *b, const struct ref_context *c, const num *w, const double *extra,
                           int t, const int64_t *i, int rows, int64_t count)
{
    const double v = REF_BF16(c, t, *i);
    (void)rows; /* REF_GROUP is 1 */
    (void)count;
    acc_add_scaled(&b->acc, *w, v);
    b->extra[0] += *extra * fabs(v);
}

#include "bitset.h"
#include "sums.h"
#include REF_HEADER

#ifndef REF_TOUCHES
#define ref_touch(...) ((void)0)
#endif

/* Results of a row's preparation, reused for further elements of the same row. */
struct prepared {
    int64_t row; /* -1: none */
#if defined REF_RECURRENCE
    struct ref_rows *scratch;
    int64_t done; /* steps */
#else
    num *scratch;
#endif
#if defined REF_FOLD
    struct ref_fold state;
#elif !defined REF_CONTRACTION && !defined REF_RECURRENCE && !defined REF_ELEMENTS
    struct ref_state state;
#endif
};

#ifdef REF_CONTRACTION
#include "witness_contraction.h"
#elif defined REF_RECURRENCE
#include "witness_recurrence.h"
#elif defined REF_ELEMENTS
#include "witness_elements.h"
#elif defined REF_FOLD
#include "witness_fold.h"
#else
#include "witness_rows.h"
#endif

#ifndef REF_DISCRETE

/* Is |x + shift - d| at most `limit`? Computed in MPFR; false for NaN. */
static bool within(num x, double shift, double d, double limit)
{
    mpfr_t value, difference;
    bool result;
    num_open(value, &x);
    mpfr_init2(difference, 2 * NUM_BITS);
    mpfr_sub_d(difference, value, d, MPFR_RNDN);
    mpfr_add_d(difference, difference, shift, MPFR_RNDN);
    mpfr_abs(difference, difference, MPFR_RNDN);
    result = mpfr_cmp_d(difference, limit) <= 0 && !mpfr_nan_p(difference);
    mpfr_clear(difference);
    return result;
}

static bool same_special(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && a == b);
}

/* Relative rounding error of the witness's own value. A radius may be smaller, if a number and a subnormal
 * are added. */
static const double witness_rounding = 0x1p-110;

static int hear(const struct judge_request *request, const struct judged *element, struct prepared *p,
                struct witnessed *answer)
{
    struct ref_element e;
    double got = element->got;
    e.kept = false;
    if (evaluate(&request->context, element->index, p, &e) != 0)
        return -1;
    if (request->problem->tensors[request->output].role != TENSOR_INOUT && e.kept != REF_COPIED)
        e.kept = false; /* as in element_judge: one reference may serve both roles */
    /* nothing to compute: only compare both flags, and check whether the bits were kept */
    if (e.kept || element->kept) {
        answer->value = element->mid;
        answer->inside = e.kept && element->kept;
        answer->ok = !element->changed;
        return 0;
    }
    answer->value = num_mid(e.value);
    if (!isfinite(answer->value)) {
        answer->ok = same_special(answer->value, got) && !element->unwritten;
        answer->inside = same_special(answer->value, element->mid);
        return 0;
    }
    if (isinf(got)) /* as in error_stats_distance */
        got = copysign(
            error_overflow(request->unrounded ? DTYPE_F64 : request->problem->tensors[request->output].dtype),
            got);
    answer->ok = within(e.value, element->shift, got, element->allowed);
    answer->inside = within(e.value, 0, element->mid, element->rad + fabs(element->mid) * witness_rounding);
    return 0;
}

#endif

int REF_NAME(witness)(const struct judge_request *request, const struct judged *element,
                      struct witnessed *answer)
{
    return REF_NAME(witness_list)(request, &element, answer, 1);
}

/* Sorts elements by row, and within a row by index, so that they share the cost of the row. */
static void sort_elements(const struct ref_context *c, const struct judged *const *element, int *order,
                          int count)
{
    for (int i = 0; i < count; i++) {
        const int64_t row = row_of(c, element[i]->index), index = element[i]->index;
        int at = i;
        for (; at > 0; at--) {
            const struct judged *before = element[order[at - 1]];
            const int64_t other = row_of(c, before->index);
            if (other < row || (other == row && before->index <= index))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

int REF_NAME(witness_list)(const struct judge_request *request, const struct judged *const *element,
                           struct witnessed *answer, int count)
{
#ifdef REF_ELEMENTS
    const bool cheap = true; /* one element can use only one thread */
#else
    const bool cheap = ref_cost(&request->context) <= expensive_terms;
#endif
    int *order = malloc((size_t)(count + 1) * sizeof *order);
    int failed = order == NULL;
    if (order)
        sort_elements(&request->context, element, order, count);
#pragma omp parallel reduction(| : failed) if (cheap && count > 1)
    {
        struct prepared p = {.row = -1};
#pragma omp for schedule(static)
        for (int i = 0; i < count; i++)
            if (order)
                failed |= hear(request, element[order[i]], &p, &answer[order[i]]);
        free(p.scratch);
    }
    free(order);
    return failed ? -1 : 0;
}

int64_t REF_NAME(row_of)(const struct judge_request *request, int64_t index)
{
    return row_of(&request->context, index);
}

int64_t REF_NAME(same_row)(const struct judge_request *request, int64_t index, uint64_t pick)
{
    return same_row(&request->context, index, pick);
}

double REF_NAME(witness_cost)(const struct judge_request *request)
{
    return ref_cost(&request->context);
}

#ifdef REF_FOLD
static int64_t terms(const struct judge_request *request, int64_t index)
{
    return ref_terms(&request->context, index);
}
#endif

int REF_NAME(judge_host)(const struct judge_request *request, struct judge_report *report);
#ifdef HAVE_CUDA
int REF_NAME(judge_cuda)(const struct judge_request *request, struct judge_report *report);
#endif
extern const struct problem REF_JOIN(problem, REF_PROBLEM);

#define TEXT_EXPANDED(x) #x
#define TEXT(x) TEXT_EXPANDED(x)

const struct reference REF_NAME(reference) = {
    .problem = &REF_JOIN(problem, REF_PROBLEM),
#ifdef REF_OUTPUT
    .output = TEXT(REF_OUTPUT),
#endif
#ifdef REF_DISCRETE
    .discrete = true,
#endif
#ifdef REF_STORED
    .stored_doubles = REF_STORED_DOUBLES(REF_STORED),
#endif
    .judge_host = REF_NAME(judge_host),
#ifdef HAVE_CUDA
    .judge_cuda = REF_NAME(judge_cuda),
#endif
    .witness = REF_NAME(witness),
    .witness_list = REF_NAME(witness_list),
    .row_of = REF_NAME(row_of),
    .same_row = REF_NAME(same_row),
    .witness_cost = REF_NAME(witness_cost),
#ifdef REF_FOLD
    .terms = terms,
#endif
};
