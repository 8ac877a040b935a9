/* The running account of many judged elements, and how far a value is from the right one: the same code on the host and in
 * kernels. The includer has defined REF_FN. */
#ifndef UNSEEN_ACCOUNT_H
#define UNSEEN_ACCOUNT_H

#include "judge.h"
#include "stored.h"

/* An account is kept by kernels and closed by the host. */
#ifdef __CUDACC__
#define TALLY_FN static __host__ __device__ __forceinline__
#else
#define TALLY_FN REF_FN
#endif

struct tally {
    int64_t wrong, unwritten, changed, published_wrong;
    int64_t first_wrong, last_wrong;
    int fits;
    double worst_ratio, strain;
    struct judged worst;
};

TALLY_FN struct tally tally_zero(void)
{
    struct tally t;
    t.wrong = t.unwritten = t.changed = t.published_wrong = 0;
    t.first_wrong = t.last_wrong = -1;
    t.fits = 0;
    t.worst_ratio = -1;
    t.strain = 0;
    t.worst.index = -1;
    t.worst.got = t.worst.mid = t.worst.rad = t.worst.allowed = t.worst.shift = 0;
    t.worst.unwritten = t.worst.kept = t.worst.changed = false;
    t.worst.tensor = 0;
    return t;
}

/* Distance between the candidate's value and the enclosure's midpoint; *slack is what is uncertain
 * about it. Exact (slack 0) when the two are within a factor of two. Infinity where only one is NaN,
 * or infinite; an infinite result for a finite value counts as the format's first `overflow`. */
REF_FN double tally_distance(double got, double mid, double overflow, double *slack)
{
    *slack = 0;
    if (isnan(mid) || isnan(got))
        return isnan(mid) && isnan(got) ? 0 : INFINITY;
    if (isinf(mid))
        return got == mid ? 0 : INFINITY;
    if (isinf(got))
        got = got > 0 ? overflow : -overflow;
    const double d = got - mid, back = d - got; /* two-sum of got and -mid */
    *slack = fabs((got - (d - back)) + (-mid - back));
    return fabs(d);
}

REF_FN void tally_wrong(struct tally *t, const struct judge_request *r, int64_t index, bool unwritten)
{
    if (r->wrong)
        r->wrong[index] = 1;
    t->wrong++;
    t->unwritten += unwritten;
    if (t->first_wrong < 0 || index < t->first_wrong)
        t->first_wrong = index;
    if (index > t->last_wrong)
        t->last_wrong = index;
}

/* Of equals the one of the least index, so that it does not depend on which thread comes first. */
TALLY_FN void tally_worst(struct tally *t, double ratio, const struct judged *judged)
{
    const double size = isnan(ratio) ? INFINITY : ratio;
    if (size > t->worst_ratio || (size == t->worst_ratio && judged->index < t->worst.index)) {
        t->worst_ratio = size;
        t->worst = *judged;
    }
}

/* The enclosure's midpoint as the output would hold it. */
REF_FN void tally_expect(const struct judge_request *r, enum dtype dtype, int64_t index, double value)
{
    if (r->expected)
        stored_put(dtype, r->expected, stored_at(r, index), value);
}

TALLY_FN void tally_merge(struct tally *into, const struct tally *from)
{
    into->wrong += from->wrong;
    into->unwritten += from->unwritten;
    into->changed += from->changed;
    into->published_wrong += from->published_wrong;
    if (from->first_wrong >= 0 && (into->first_wrong < 0 || from->first_wrong < into->first_wrong))
        into->first_wrong = from->first_wrong;
    if (from->last_wrong > into->last_wrong)
        into->last_wrong = from->last_wrong;
    if (from->fits > into->fits)
        into->fits = from->fits;
    if (from->strain > into->strain)
        into->strain = from->strain;
    if (from->worst.index >= 0)
        tally_worst(into, from->worst_ratio, &from->worst);
}

TALLY_FN void tally_report(const struct tally *t, struct judge_report *report)
{
    report->wrong = t->wrong;
    report->unwritten = t->unwritten;
    report->changed = t->changed;
    report->published_wrong = t->published_wrong;
    report->first_wrong = t->first_wrong;
    report->last_wrong = t->last_wrong;
    report->fits = t->fits;
    report->worst_ratio = t->worst_ratio;
    report->strain = t->strain;
    report->worst = t->worst;
}

#endif
