/* The enclosure of one problem on the host. Compiled once per problem with REF_PROBLEM, and with REF_HEADER
 * naming its reference.h. */
#include <stdlib.h>
#include <string.h>

#include "../problems/format.h"
#include "judge.h"

#define REF_FN static inline __attribute__((unused))
#define REF_LANE 0
#define REF_LANES 1
#define REF_LANES_LEAST 1
#define REF_TERM_LANE 0
#define REF_TERM_LANES 1
#define REF_F32(c, t, i) ((double)((const float *)(c)->tensor[t])[i])
#define REF_U8(c, t, i) (((const uint8_t *)(c)->tensor[t])[i])
#define REF_I64(c, t, i) (((const int64_t *)(c)->tensor[t])[i])
#define REF_BITS32(c, t, i) (((const uint32_t *)(c)->tensor[t])[i])
#define REF_I32(c, t, i) (((const int32_t *)(c)->tensor[t])[i])
#define REF_E4M3(c, t, i) ((double)(c)->e4m3[((const uint8_t *)(c)->tensor[t])[i]])
#define REF_BF16(c, t, i) bf16_value(((const uint16_t *)(c)->tensor[t])[i])
#define REF_F16(c, t, i) ((double)single_from_f16(((const uint16_t *)(c)->tensor[t])[i]))
#define REF_E5M2(c, t, i) ((double)single_from_e5m2(((const uint8_t *)(c)->tensor[t])[i]))
#define REF_E2M1(c, t, i) ((double)single_from_e2m1((uint8_t)dtype_word(4, (c)->tensor[t], i)))
#define REF_F64(c, t, i) (((const double *)(c)->tensor[t])[i])
#define REF_I8(c, t, i) (((const int8_t *)(c)->tensor[t])[i])
#define REF_BOOL(c, t, i) (((const uint8_t *)(c)->tensor[t])[i] != 0)
#define REF_BLOCK 32 /* elements that are summed side by side in vector registers */
#define REF_COLUMNS REF_BLOCK
#define REF_OWN REF_COLUMNS
#define REF_GROUP 4 /* rows that are processed together, to share loads and stores */

REF_FN float bf16_single(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {(uint32_t)bits << 16};
    return both.value;
}

REF_FN double bf16_value(uint16_t bits)
{
    return bf16_single(bits);
}

#include "num_enclosure.h"
#include "sums.h"

REF_DECLARE_ELEMENT;

REF_FN double ref_all_max(double x)
{
    return x;
}
REF_FN double ref_all_sum(double x)
{
    return x;
}
REF_FN bool ref_all_any(bool x)
{
    return x;
}
REF_FN void ref_all_acc(struct acc *x)
{
    (void)x;
}
REF_FN void ref_barrier(void)
{
}
REF_FN double ref_lane_max(double x)
{
    return x;
}
REF_FN double ref_lane_sum(double x)
{
    return x;
}
REF_FN void ref_lane_acc(struct acc *x)
{
    (void)x;
}
REF_FN void ref_lane_reals(real *x)
{
    (void)x;
}
REF_FN void ref_lane_floats(float *x)
{
    (void)x;
}
REF_FN void ref_own_reals(const real *x, real *own)
{
    memcpy(own, x, REF_OWN * sizeof *own);
}
REF_FN void ref_own_doubles(const double *x, double *own)
{
    memcpy(own, x, REF_OWN * sizeof *own);
}
REF_FN void ref_own_floats(const float *x, float *own)
{
    memcpy(own, x, REF_OWN * sizeof *own);
}
REF_FN int ref_owned(int j)
{
    return j;
}
REF_FN real ref_pick(const real *x, int j)
{
    return x[j];
}

/* Factor that covers the roundings of n additions in single precision. */
REF_FN double singles_up(double n)
{
    return 1 + n * 0x1p-22;
}

/* sum, sum |p| and sum p^2 of products p of bf16 values, of one row with each of REF_GROUP others. A product
 * of two bf16 values is exact in single precision. The sum uses doubles; the other two use singles, since
 * they only scale errors. */
_Static_assert(REF_GROUP == 4, "four rows are written out below");
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused)) static void
dots_bf16(const uint16_t *a, const uint16_t *const b[REF_GROUP], int64_t n, struct acc out[REF_GROUP])
{
    const uint16_t *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
    double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    float magnitude0 = 0, magnitude1 = 0, magnitude2 = 0, magnitude3 = 0;
    float square0 = 0, square1 = 0, square2 = 0, square3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3, magnitude0, magnitude1, magnitude2, magnitude3, \
                               square0, square1, square2, square3)
    for (int64_t i = 0; i < n; i++) {
        const float x = bf16_single(a[i]), p0 = x * bf16_single(b0[i]), p1 = x * bf16_single(b1[i]);
        const float p2 = x * bf16_single(b2[i]), p3 = x * bf16_single(b3[i]);
        sum0 += (double)p0;
        sum1 += (double)p1;
        sum2 += (double)p2;
        sum3 += (double)p3;
        magnitude0 += fabsf(p0);
        magnitude1 += fabsf(p1);
        magnitude2 += fabsf(p2);
        magnitude3 += fabsf(p3);
        square0 += p0 * p0;
        square1 += p1 * p1;
        square2 += p2 * p2;
        square3 += p3 * p3;
    }
    const double up = singles_up((double)n), terms = (double)n;
    out[0] = (struct acc){sum0, magnitude0 * up, square0 * up, 0, terms};
    out[1] = (struct acc){sum1, magnitude1 * up, square1 * up, 0, terms};
    out[2] = (struct acc){sum2, magnitude2 * up, square2 * up, 0, terms};
    out[3] = (struct acc){sum3, magnitude3 * up, square3 * up, 0, terms};
}

REF_FN void ref_dots_bf16(const struct ref_context *c, int t, int64_t i, int u, const int64_t *j, int rows,
                          int64_t n, struct acc *out)
{
    const uint16_t *row[REF_GROUP];
    struct acc all[REF_GROUP];
    for (int r = 0; r < REF_GROUP; r++)
        row[r] = (const uint16_t *)c->tensor[u] + j[r < rows ? r : 0];
    dots_bf16((const uint16_t *)c->tensor[t] + i, row, n, all);
    memcpy(out, all, (size_t)rows * sizeof *out);
}

/* REF_BLOCK sums side by side, one vector per quantity. */
struct block {
    double sum[REF_BLOCK], magnitude[REF_BLOCK], square[REF_BLOCK], rad[REF_BLOCK], extra[REF_BLOCK];
    double terms;
};

REF_FN struct block block_zero(void)
{
    return (struct block){.terms = 0};
}

REF_FN struct acc block_acc(const struct block *b, int64_t j)
{
    return (struct acc){b->sum[j], b->magnitude[j], b->square[j], b->rad[j], b->terms};
}

struct weighted {
    double mid, size, rad, extra;
    const uint16_t *value;
};

/* The bounds hold whether or not the compiler fuses a multiplication and an addition here. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused,
               optimize("fp-contract=fast"))) static void
block_add(struct block *b, const struct weighted w[REF_GROUP], int64_t count)
{
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        double sum = b->sum[j], magnitude = b->magnitude[j], square = b->square[j], rad = b->rad[j];
        double extra = b->extra[j];
        for (int r = 0; r < REF_GROUP; r++) {
            const double v = bf16_value(w[r].value[j]), p = w[r].mid * v, at = fabs(v);
            sum += p;
            magnitude += w[r].size * at;
            square += p * p;
            rad += w[r].rad * at;
            extra += w[r].extra * at;
        }
        b->sum[j] = sum;
        b->magnitude[j] = magnitude;
        b->square[j] = square;
        b->rad[j] = rad;
        b->extra[j] = extra;
    }
}

/* Missing rows get weight 0. */
REF_FN void block_add_bf16(struct block *b, const struct ref_context *c, const num *w, const double *extra,
                           int t, const int64_t *i, int rows, int64_t count)
{
    struct weighted weighted[REF_GROUP];
    for (int r = 0; r < REF_GROUP; r++) {
        const int at = r < rows ? r : 0;
        const double size = fabs(w[at].mid);
        weighted[r] = (struct weighted){.value = (const uint16_t *)c->tensor[t] + i[at]};
        if (r < rows) {
            weighted[r].mid = w[r].mid;
            weighted[r].size = size;
            weighted[r].rad = w[r].rad + size * NUM_U;
            weighted[r].extra = extra[r];
        }
    }
    block_add(b, weighted, count);
    b->terms += rows;
}

#include "bitset.h"
#include REF_HEADER
#include "judge_element.h"
#include "enclosure_store.h"

/* One thread's work: the request, and the report that all threads share. */
struct work {
    const struct judge_request *request;
    struct judge_report *report;
    enum dtype dtype;
};

#ifdef REF_DISCRETE

REF_FN void judge_verdict(const struct work *w, struct error_stats *tally, const struct element_verdict *v,
                          int64_t index)
{
    struct judged judged;
    element_verdict(tally, w->request, v, index, &judged);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (w->request->sample[s] == index)
            w->report->sample[s] = judged;
}

#else

static void note_open(const struct work *w, const struct judged *judged)
{
#pragma omp critical(judge_open)
    {
        if (w->report->open < JUDGE_OPEN)
            w->report->opens[w->report->open] = *judged;
        w->report->open++;
    }
}

REF_FN void judge_element(const struct work *w, struct error_stats *tally, const struct ref_element *e,
                          int64_t index)
{
    struct judged judged;
#ifdef REF_STORED
    if (w->request->store)
        enclosure_put(w->request, w->dtype, e, index);
#endif
    if (element_judge(tally, w->request, w->dtype, e, index, &judged) == ELEMENT_OPEN)
        note_open(w, &judged);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (w->request->sample[s] == index)
            w->report->sample[s] = judged;
}

#endif

#if defined REF_CONTRACTION
#include "contraction_host.h"
#elif defined REF_RECURRENCE
#include "recurrence_host.h"
#elif defined REF_ELEMENTS
#include "elements_host.h"
#elif defined REF_FOLD
#include "fold_host.h"
#else
#include "rows_host.h"
#endif

static void judge_stored(const struct work *w, struct error_stats *total)
{
#ifdef REF_STORED
    const int64_t elements = w->request->elements;
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < elements; i++) {
            struct ref_element e;
            enclosure_get(w->request, i, &e);
            judge_element(w, &tally, &e, i);
        }
#pragma omp critical(judge_merge)
        error_stats_merge(total, &tally);
    }
#else
    (void)w;
    (void)total;
#endif
}

int REF_NAME(judge_host)(const struct judge_request *request, struct judge_report *report)
{
    const enum dtype dtype = request->problem->tensors[request->output].dtype;
    const struct judge_request complete = judge_complete(request);
    const struct work w = {&complete, report, request->unrounded ? DTYPE_F64 : dtype};
    struct error_stats total = error_stats_zero();
    memset(report, 0, sizeof *report);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        report->sample[s].index = -1;
    int status = 0;
    if (complete.stored)
        judge_stored(&w, &total);
    else
        status = judge_all(&w, &total);
    error_stats_report(&total, report);
    return status;
}
