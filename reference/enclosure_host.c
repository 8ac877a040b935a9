/* The enclosure of one problem on the host. Compiled once per problem, as REF_PROBLEM, with REF_HEADER
 * its reference.h. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define REF_FN static inline __attribute__((unused))
#define REF_LANE 0
#define REF_LANES 1
#define REF_LANES_LEAST 1
#define REF_F32(c, t, i) ((double)((const float *)(c)->tensor[t])[i])
#define REF_U8(c, t, i) (((const uint8_t *)(c)->tensor[t])[i])
#define REF_I64(c, t, i) (((const int64_t *)(c)->tensor[t])[i])
#define REF_BITS32(c, t, i) (((const uint32_t *)(c)->tensor[t])[i])
#define REF_I32(c, t, i) (((const int32_t *)(c)->tensor[t])[i])
#define REF_E4M3(c, t, i) ((double)(c)->e4m3[((const uint8_t *)(c)->tensor[t])[i]])
#define REF_BF16(c, t, i) bf16_value(((const uint16_t *)(c)->tensor[t])[i])
#define REF_BLOCK 32 /* elements whose sums run side by side in vector registers */

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

REF_FN double ref_all_max(double x) { return x; }
REF_FN double ref_all_sum(double x) { return x; }
REF_FN bool ref_all_any(bool x) { return x; }
REF_FN void ref_all_acc(struct acc *x) { (void)x; }
REF_FN void ref_barrier(void) {}
REF_FN double ref_lane_max(double x) { return x; }
REF_FN double ref_lane_sum(double x) { return x; }
REF_FN void ref_lane_reals(real *x) { (void)x; }
REF_FN void ref_lane_doubles(double *x) { (void)x; }
REF_FN void ref_lane_floats(float *x) { (void)x; }

/* What the roundings of n singles added up may have taken from a sum of sizes. */
REF_FN double singles_up(double n)
{
    return 1 + n * 0x1p-22;
}

/* sum, sum |p| and sum p^2 of products of bf16. The sum's are exact in double; the others only scale
 * errors, and singles do: a product of two bf16 is exact there too. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused))
static void dot_bf16(const uint16_t *a, const uint16_t *b, int64_t n, struct acc *out)
{
    double sum = 0;
    float magnitude = 0, square = 0;
#pragma omp simd reduction(+ : sum, magnitude, square)
    for (int64_t i = 0; i < n; i++) {
        const float p = bf16_single(a[i]) * bf16_single(b[i]);
        sum += (double)p;
        magnitude += fabsf(p);
        square += p * p;
    }
    *out = (struct acc){sum, magnitude * singles_up((double)n), square * singles_up((double)n), 0,
                        (double)n};
}

REF_FN struct acc ref_dot_bf16(const struct ref_context *c, int t, int64_t i, int u, int64_t j,
                               int64_t n)
{
    struct acc out;
    dot_bf16((const uint16_t *)c->tensor[t] + i, (const uint16_t *)c->tensor[u] + j, n, &out);
    return out;
}

/* REF_BLOCK sums side by side, each quantity in a vector of its own. */
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

/* Whether a product and a sum fuse here makes no difference to any bound. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), unused,
               optimize("fp-contract=fast")))
static void block_add(struct block *b, num w, double extra, const uint16_t *value, int64_t count)
{
    const double size = fabs(w.mid), rad = w.rad + size * NUM_U;
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        const double v = bf16_value(value[j]), p = w.mid * v, at = fabs(v);
        b->sum[j] += p;
        b->magnitude[j] += size * at;
        b->square[j] += p * p;
        b->rad[j] += rad * at;
        b->extra[j] += extra * at;
    }
    b->terms += 1;
}

REF_FN void block_add_bf16(struct block *b, const struct ref_context *c, num w, double extra, int t,
                           int64_t i, int64_t count)
{
    block_add(b, w, extra, (const uint16_t *)c->tensor[t] + i, count);
}

#include "marks.h"
#include REF_HEADER
#include "tally.h"

/* One thread's account, and the report that all threads share. */
struct work {
    const struct judge_request *request;
    struct judge_report *report;
    enum dtype dtype;
};

#ifdef REF_DISCRETE

REF_FN void judge_verdict(const struct work *w, struct tally *tally, const struct verdict *v, int64_t index)
{
    struct judged judged;
    tally_verdict(tally, w->request, v, index, &judged);
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

REF_FN void judge_element(const struct work *w, struct tally *tally, const struct ref_element *e,
                          int64_t index)
{
    struct judged judged;
    if (tally_element(tally, w->request, w->dtype, e, index, &judged) == TALLY_OPEN)
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
#else
#include "rows_host.h"
#endif

int REF_NAME(judge_host)(const struct judge_request *request, struct judge_report *report)
{
    const struct work w = {request, report, request->problem->tensors[request->output].dtype};
    struct tally total = tally_zero();
    memset(report, 0, sizeof *report);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        report->sample[s].index = -1;
    const int status = judge_all(&w, &total);
    tally_report(&total, report);
    return status;
}
