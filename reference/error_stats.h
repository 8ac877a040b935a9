/* Error statistics over many judged elements, and the distance of a value from the exact one. The same code
 * runs on the host and in kernels. The includer must define REF_FN. */
#ifndef UNSEEN_ERROR_STATS_H
#define UNSEEN_ERROR_STATS_H

#include "judge.h"
#include "element.h"

/* Kernels accumulate a tally, and the host finishes it. */
#ifdef __CUDACC__
#define TALLY_FN static __host__ __device__ __forceinline__
#else
#define TALLY_FN REF_FN
#endif

struct error_stats {
    int64_t wrong, unwritten, changed, published_wrong;
    int64_t first_wrong, last_wrong;
    int fits;
    double worst_ratio, strain;
    double most_absolute, most_relative;
    struct judged worst;
};

TALLY_FN struct error_stats error_stats_zero(void)
{
    struct error_stats t;
    t.wrong = t.unwritten = t.changed = t.published_wrong = 0;
    t.first_wrong = t.last_wrong = -1;
    t.fits = 0;
    t.worst_ratio = -1;
    t.strain = t.most_absolute = t.most_relative = 0;
    t.worst.index = -1;
    t.worst.got = t.worst.mid = t.worst.rad = t.worst.allowed = t.worst.shift = 0;
    t.worst.unwritten = t.worst.kept = t.worst.changed = false;
    t.worst.tensor = 0;
    return t;
}

/* Distance between the candidate's value and the enclosure's midpoint; *slack bounds its own rounding error.
 * It is exact (slack 0) if both are within a factor of two. Infinity if only one of them is NaN or infinite.
 * An infinite result for a finite value counts as `overflow`, the format's first value beyond its range. */
REF_FN double error_stats_distance(double got, double mid, double overflow, double *slack)
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

REF_FN void error_stats_wrong(struct error_stats *t, const struct judge_request *r, int64_t index,
                              bool unwritten)
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

/* Keeps the greatest errors, from an element's distance to its right value. The relative one is that of
 * published checks: |got - want| / (|want| + 1e-8). */
REF_FN void error_stats_greatest(struct error_stats *t, double distance, double want)
{
    const double base = fabs(want) + 1e-8;
    if (!(distance <= t->most_absolute))
        t->most_absolute = isnan(distance) ? INFINITY : distance;
    if (!isfinite(distance))
        t->most_relative = INFINITY;
    else if (distance > t->most_relative * base)
        t->most_relative = distance / base;
}

/* Keeps the worst element. A tie goes to the lowest index, so that the result does not depend on the order of
 * threads. */
TALLY_FN void error_stats_worst(struct error_stats *t, double ratio, const struct judged *judged)
{
    const double size = isnan(ratio) ? INFINITY : ratio;
    if (size > t->worst_ratio || (size == t->worst_ratio && judged->index < t->worst.index)) {
        t->worst_ratio = size;
        t->worst = *judged;
    }
}

/* Stores the enclosure's midpoint, rounded to the output's dtype. */
REF_FN void error_stats_expect(const struct judge_request *r, enum dtype dtype, int64_t index, double value)
{
    if (r->expected)
        dtype_store(dtype, r->expected, element_at(r, index), value);
}

TALLY_FN void error_stats_merge(struct error_stats *into, const struct error_stats *from)
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
    if (from->most_absolute > into->most_absolute)
        into->most_absolute = from->most_absolute;
    if (from->most_relative > into->most_relative)
        into->most_relative = from->most_relative;
    if (from->strain > into->strain)
        into->strain = from->strain;
    if (from->worst.index >= 0)
        error_stats_worst(into, from->worst_ratio, &from->worst);
}

TALLY_FN void error_stats_report(const struct error_stats *t, struct judge_report *report)
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
    report->most_absolute = t->most_absolute;
    report->most_relative = t->most_relative;
    report->worst = t->worst;
}

#endif
