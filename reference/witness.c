/* The witness of one problem: its reference.h over MPFR, one element at a time. Compiled once per
 * problem as REF_PROBLEM, with its REF_HEADER. */
#include <omp.h>
#include <stdlib.h>

#include "judge.h"
#include "num_mpfr.h"

#define REF_FN static inline __attribute__((unused))
#define REF_LANE omp_get_thread_num()
#define REF_LANES omp_get_num_threads()
#define REF_LANES_LEAST 1
#define REF_BLOCK 1
#define REF_GROUP 1
#define REF_COLUMNS 1
#define REF_OWN 1
#define REF_F32(c, t, i) ((double)*(const float *)witness_read(c, t, i, 4))
#define REF_U8(c, t, i) (*(const uint8_t *)witness_read(c, t, i, 1))
#define REF_I64(c, t, i) (*(const int64_t *)witness_read(c, t, i, 8))
#define REF_BITS32(c, t, i) (*(const uint32_t *)witness_read(c, t, i, 4))
#define REF_I32(c, t, i) (*(const int32_t *)witness_read(c, t, i, 4))
#define REF_E4M3(c, t, i) ((double)(c)->e4m3[*(const uint8_t *)witness_read(c, t, i, 1)])
#define REF_BF16(c, t, i) witness_bf16(*(const uint16_t *)witness_read(c, t, i, 2))

/* Tensors lie in host memory, or come over from the GPU when they are touched. */
REF_FN const void *witness_read(const struct ref_context *c, int tensor, int64_t index, int64_t size)
{
    if (c->fetcher)
        return fetcher_read(c->fetcher, tensor, index * size, size);
    return (const char *)c->tensor[tensor] + index * size;
}

REF_FN double witness_bf16(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {(uint32_t)bits << 16};
    return both.value;
}

REF_DECLARE_ELEMENT;

/* Above this many terms an element takes all cores, below it elements run side by side. */
static const double expensive_terms = 2e5;

int REF_NAME(witness_list)(const struct judge_request *request,
                           const struct judged *const *element, struct witnessed *answer, int count);

/* The lanes of a row are the threads of a team, so that one long row takes all cores. Two sets of places
 * take turns: one barrier a reduction, since all have read a set when the next one's barrier opens. */
enum { TEAM_MOST = 64 };

struct places {
    double value[TEAM_MOST];
    struct acc acc[TEAM_MOST];
};

struct team {
    struct places places[2];
};

static _Thread_local struct team *team;
static _Thread_local int team_turn;

/* Every thread of a team, before its first reduction. */
REF_FN void team_join(struct team *shared)
{
    team = shared;
    team_turn = 0;
}

REF_FN void ref_barrier(void)
{
#pragma omp barrier
}

static struct places *team_places(void)
{
    team_turn = !team_turn;
    return &team->places[team_turn];
}

REF_FN double ref_all_max(double x)
{
    struct places *p = team_places();
    p->value[omp_get_thread_num()] = x;
    ref_barrier();
    for (int i = 0; i < omp_get_num_threads(); i++)
        x = p->value[i] > x ? p->value[i] : x;
    return x;
}

REF_FN double ref_all_sum(double x)
{
    struct places *p = team_places();
    p->value[omp_get_thread_num()] = x;
    ref_barrier();
    x = 0;
    for (int i = 0; i < omp_get_num_threads(); i++)
        x += p->value[i];
    return x;
}

REF_FN bool ref_all_any(bool x)
{
    return ref_all_max(x) > 0;
}

REF_FN void ref_all_acc(struct acc *x)
{
    struct places *p = team_places();
    p->acc[omp_get_thread_num()] = *x;
    ref_barrier();
    *x = p->acc[0];
    for (int i = 1; i < omp_get_num_threads(); i++)
        acc_merge(x, &p->acc[i]);
}

REF_FN double ref_lane_max(double x)
{
    return ref_all_max(x);
}

REF_FN double ref_lane_sum(double x)
{
    return ref_all_sum(x);
}

REF_FN void ref_lane_floats(float *x)
{
    *x = (float)ref_all_sum(*x);
}

REF_FN void ref_lane_reals(real *x)
{
    struct acc sum = acc_zero();
    sum.total = *x;
    ref_all_acc(&sum);
    *x = sum.total;
}

REF_FN void ref_own_reals(const real *x, real *own)
{
    *own = *x;
    ref_lane_reals(own);
}

REF_FN void ref_own_doubles(const double *x, double *own)
{
    *own = ref_all_sum(*x);
}

REF_FN void ref_own_floats(const float *x, float *own)
{
    *own = (float)ref_all_sum(*x);
}

REF_FN int ref_owned(int j)
{
    return j;
}

REF_FN real ref_pick(const real *x, int j)
{
    return x[j];
}

REF_FN void ref_dots_bf16(const struct ref_context *c, int t, int64_t i, int u, const int64_t *j, int rows,
                          int64_t n, struct acc *sum)
{
    (void)rows; /* REF_GROUP */
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
    (void)rows; /* REF_GROUP */
    (void)count;
    acc_add_scaled(&b->acc, *w, v);
    b->extra[0] += *extra * fabs(v);
}

#include "marks.h"
#include "sums.h"
#include REF_HEADER

/* What a row costs, kept from one element to the next of the same row. */
struct prepared {
    int64_t row; /* -1: none */
#if defined REF_RECURRENCE
    struct ref_rows *scratch;
    int64_t done; /* steps */
#else
    num *scratch;
#endif
#if !defined REF_CONTRACTION && !defined REF_RECURRENCE
    struct ref_state state;
#endif
};

#ifdef REF_CONTRACTION
#include "contraction.h"

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    (void)c;
    (void)index;
    return -1;
}

static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    (void)c;
    (void)pick;
    return index;
}

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p,
                    struct ref_element *e)
{
    int64_t shape[3];
    struct acc sum[REF_ACCOUNTS];
    (void)p;
    ref_shape(c, shape);
    const int64_t m = index / shape[1], n = index % shape[1];
    const int64_t group = contraction_rows(c, shape, 1, m).group;
    for (int part = 0; part < REF_ACCOUNTS; part++) {
        sum[part] = acc_zero();
        for (int64_t k = 0; part < REF_SUMS && k < shape[2]; k++)
            acc_add_product(&sum[part], ref_a(c, m, k), contraction_b(c, group, part, n, k));
    }
    ref_finish(c, m, n, sum, e);
    return 0;
}

#elif defined REF_RECURRENCE
#include "witness_recurrence.h"
#else

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    return index / ref_width(c);
}

static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    const int64_t width = ref_width(c);
    return index / width * width + (int64_t)(pick % (uint64_t)width);
}

/* All lanes prepare the row, each with a state of its own that ends up the same. */
static int prepare_row(const struct ref_context *c, int64_t row, struct prepared *p)
{
    const int most = omp_get_max_threads() < TEAM_MOST ? omp_get_max_threads() : TEAM_MOST;
    struct team shared;
    if (!p->scratch)
        p->scratch = malloc((size_t)(ref_scratch(c) + 1) * sizeof *p->scratch);
    if (!p->scratch)
        return -1;
#pragma omp parallel num_threads(ref_cost(c) > expensive_terms ? most : 1)
    {
        struct ref_state state;
        team_join(&shared);
        ref_prepare(c, row, p->scratch, &state);
        if (omp_get_thread_num() == 0)
            p->state = state;
    }
    p->row = row;
    return 0;
}

#ifdef REF_DISCRETE

/* What is right or not is so here by the same definition, over the values as they came. */
static int hear(const struct judge_request *request, const struct judged *element, struct prepared *p,
                struct witnessed *answer)
{
    const struct ref_context *c = &request->context;
    const int64_t row = row_of(c, element->index);
    if (p->row != row && prepare_row(c, row, p) != 0)
        return -1;
    const struct verdict v = ref_verdict(c, row, element->index % ref_width(c), p->scratch, &p->state);
    answer->value = v.want;
    answer->ok = v.right;
    answer->inside = v.want == element->mid || (isnan(v.want) && isnan(element->mid));
    return 0;
}

#else

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p,
                    struct ref_element *e)
{
    const int64_t row = row_of(c, index);
    if (p->row != row && prepare_row(c, row, p) != 0)
        return -1;
    ref_elements(c, row, index % ref_width(c), 1, p->scratch, &p->state, e);
    return 0;
}

#endif /* discrete */
#endif

#ifndef REF_DISCRETE

/* |x - d|, and whether it is at most `limit`, all in MPFR. NaN is within nothing. */
static bool within(num x, double d, double limit)
{
    mpfr_t value, difference;
    bool result;
    num_open(value, &x);
    mpfr_init2(difference, 2 * NUM_BITS);
    mpfr_sub_d(difference, value, d, MPFR_RNDN);
    mpfr_abs(difference, difference, MPFR_RNDN);
    result = mpfr_cmp_d(difference, limit) <= 0 && !mpfr_nan_p(difference);
    mpfr_clear(difference);
    return result;
}

static bool same_special(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && a == b);
}

static int hear(const struct judge_request *request, const struct judged *element,
                struct prepared *p, struct witnessed *answer)
{
    struct ref_element e;
    double got = element->got;
    if (evaluate(&request->context, element->index, p, &e) != 0)
        return -1;
    answer->value = num_mid(e.value);
    if (!isfinite(answer->value)) {
        answer->ok = same_special(answer->value, got) && !element->unwritten;
        answer->inside = same_special(answer->value, element->mid);
        return 0;
    }
    if (isinf(got)) /* counts as the format's first overflow, as in tally_distance */
        got = got > 0 ? 0x1p128 : -0x1p128;
    answer->ok = within(e.value, got, element->allowed);
    answer->inside = within(e.value, element->mid, element->rad);
    return 0;
}

#endif

int REF_NAME(witness)(const struct judge_request *request, const struct judged *element,
                      struct witnessed *answer)
{
    return REF_NAME(witness_list)(request, &element, answer, 1);
}

/* The elements of a row next to each other and in its order, so that they share what it costs. */
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

int REF_NAME(witness_list)(const struct judge_request *request,
                           const struct judged *const *element, struct witnessed *answer, int count)
{
    const bool cheap = ref_cost(&request->context) <= expensive_terms;
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
