/* Judges one element from its enclosure and the candidate's bits; the same code on the host and in kernels.
 * The includer must define REF_FN and num, and include the problem's reference.h. */
#ifndef UNSEEN_JUDGE_ELEMENT_H
#define UNSEEN_JUDGE_ELEMENT_H

#include "error_stats.h"

enum element_result { ELEMENT_DECIDED, ELEMENT_OPEN };

#ifdef REF_DISCRETE

/* Judges an element that is right or wrong, without a distance. */
REF_FN void element_verdict(struct error_stats *t, const struct judge_request *r,
                            const struct element_verdict *v, int64_t index, struct judged *judged)
{
    judged->index = index;
    judged->got = v->got;
    judged->mid = v->want;
    judged->rad = judged->allowed = judged->shift = 0;
    judged->unwritten = v->unwritten;
    judged->kept = judged->changed = false;
    judged->tensor = v->tensor;
    error_stats_worst(t, v->right ? 0 : INFINITY, judged);
    error_stats_greatest(t, v->got == v->want ? 0 : fabs(v->got - v->want), v->want);
    if (!v->right) {
        error_stats_wrong(t, r, index, v->unwritten);
        t->fits = r->arithmetics.count;
    }
    error_stats_expect(r, DTYPE_F32, index, v->expected);
    if (v->got != v->want && !(fabs(v->got - v->want) <= r->atol + r->rtol * fabs(v->want)))
        t->published_wrong++;
}

#else

#ifndef REF_SHIFTED
REF_FN double ref_shift(const struct ref_element *e)
{
    (void)e;
    return 0;
}

REF_FN double ref_strain(const struct ref_element *e)
{
    (void)e;
    return 0;
}
#endif

REF_FN double element_allowed(const struct judge_request *r, const struct arithmetic *a, enum dtype dtype,
                              const struct ref_element *e)
{
    const double error = ref_error(&r->context, a, e) * (r->loosened > 0 ? r->loosened : 1);
    if (!isfinite(num_mid(e->value)))
        return 0; /* NaN and infinities must match exactly */
    return error + error_of_rounding(error_format(dtype), num_mid(e->value), error);
}

/* The error allowed by the admitted arithmetic: all classes up to it are honest. `fits` advances to the
 * tightest class that explains all elements so far; usually that is one evaluation, shared with the first. */
REF_FN double element_arithmetics(struct error_stats *t, const struct judge_request *r, enum dtype dtype,
                                  const struct ref_element *e, double distance)
{
    double allowed = 0;
    for (int i = 0; i <= r->arithmetics.admitted; i++) {
        const double most = element_allowed(r, &r->arithmetics.item[i], dtype, e);
        allowed = most > allowed ? most : allowed;
        if (t->fits == i && distance != 0 && !(distance <= most))
            t->fits++;
    }
    while (t->fits > r->arithmetics.admitted && t->fits < r->arithmetics.count && distance != 0 &&
           !(distance <= element_allowed(r, &r->arithmetics.item[t->fits], dtype, e)))
        t->fits++;
    return allowed;
}

/* Distance of the candidate's value from the exact value plus the common offset of its row (ref_shift).
 * *doubt bounds the error of this distance: the enclosure's radius, the slack, and the rounding of the moved
 * midpoint. */
REF_FN double element_moved(const struct ref_element *e, double got, double shift, double overflow,
                            double *doubt)
{
    const double mid = num_mid(e->value) + shift;
    double slack;
    const double distance = error_stats_distance(got, mid, overflow, &slack);
    const double moving = shift == 0 ? 0 : fabs(mid) * 0x1p-53;
    *doubt = isfinite(mid) && isfinite(distance) ? e->value.rad + slack + moving : 0;
    return distance;
}

/* Applies the published check to one element; `distance` is without a shift. */
REF_FN bool element_published(const struct judge_request *r, double got, double mid, double distance)
{
    return distance <= r->atol + r->rtol * fabs(mid) || (isinf(mid) && got == mid);
}

/* Judges an element of an in-out tensor that must keep its bits, or an element that must have the bits of
 * another tensor. Before the last rounding (`unrounded`) there are no bits to compare. */
REF_FN void element_kept(struct error_stats *t, const struct judge_request *r, enum dtype dtype,
                         const struct ref_element *e, int64_t index, struct judged *judged)
{
    uint32_t bits = 0;
    const int64_t place = element_at(r, index);
    const bool copied = e->kept == REF_COPIED;
    const void *held = copied ? e->copied : r->held;
    const int64_t held_at = copied ? 0 : place;
    const bool same = r->unrounded || dtype_same(dtype, r->got, place, held, held_at);
    judged->index = index;
    judged->mid = r->unrounded ? 0 : dtype_load(dtype, held, held_at, &bits);
    judged->got = r->unrounded ? 0 : dtype_load(dtype, r->got, place, &bits);
    judged->rad = judged->allowed = judged->shift = 0;
    judged->unwritten = !same && !r->held && bits == r->poison;
    judged->kept = true;
    judged->changed = !same;
    judged->tensor = r->output;
    error_stats_worst(t, same ? 0 : INFINITY, judged);
    error_stats_greatest(t, same ? 0 : fabs(judged->got - judged->mid), judged->mid);
    t->changed += !same && !copied;
    if (!same) {
        error_stats_wrong(t, r, index, judged->unwritten);
        t->fits = r->arithmetics.count;
        t->published_wrong += !(fabs(judged->got - judged->mid) <= r->atol + r->rtol * fabs(judged->mid));
    }
    if (r->expected)
        dtype_copy(dtype, r->expected, place, held, held_at);
}

/* Judges element `index` and fills *judged. ELEMENT_OPEN: the enclosure cannot decide, so MPFR must. */
REF_FN enum element_result element_judge(struct error_stats *t, const struct judge_request *r,
                                         enum dtype dtype, const struct ref_element *e, int64_t index,
                                         struct judged *judged)
{
    uint32_t bits;
    double doubt;
    if (e->kept == REF_COPIED || (r->held && e->kept)) {
        element_kept(t, r, dtype, e, index, judged);
        return ELEMENT_DECIDED;
    }
    const double got = dtype_load(dtype, r->got, element_at(r, index), &bits), mid = num_mid(e->value);
    const double shift = ref_shift(e), strain = ref_strain(e);
    const double distance = element_moved(e, got, shift, error_overflow(dtype), &doubt);
    const double allowed = element_arithmetics(t, r, dtype, e, distance);
    const bool unwritten =
        !r->held && bits == r->poison && !(dtype_holds_poison(dtype) && distance <= allowed);

    judged->index = index;
    judged->got = got;
    judged->mid = mid;
    judged->rad = e->value.rad;
    judged->allowed = allowed;
    judged->shift = shift;
    judged->unwritten = unwritten;
    judged->kept = judged->changed = false;
    judged->tensor = r->output;
    error_stats_expect(r, dtype, index, mid);

    if (unwritten || t->worst_ratio < 0 || !(distance < t->worst_ratio * allowed * (1 - 0x1p-50)))
        error_stats_worst(t, unwritten ? INFINITY : distance == 0 ? 0 : distance / allowed, judged);
    t->strain = strain > t->strain ? strain : t->strain;
    const double plain = shift == 0 || !isfinite(mid) ? distance : fabs(got - mid);
    error_stats_greatest(t, plain, mid);
    t->published_wrong += !element_published(r, got, mid, plain);
    if (unwritten || !(distance - doubt <= allowed)) {
        error_stats_wrong(t, r, index, unwritten);
        return ELEMENT_DECIDED;
    }
    return distance + doubt <= allowed ? ELEMENT_DECIDED : ELEMENT_OPEN;
}

#endif /* REF_DISCRETE */

#endif
