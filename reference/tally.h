/* Judges one element from its enclosure and the candidate's bits; the same code on the host and in kernels.
 * The includer must define REF_FN and num, and include the problem's reference.h. */
#ifndef UNSEEN_TALLY_H
#define UNSEEN_TALLY_H

#include "account.h"

enum tally_result { TALLY_DECIDED, TALLY_OPEN };

#ifdef REF_DISCRETE

/* Judges an element that is right or wrong, without a distance. */
REF_FN void tally_verdict(struct tally *t, const struct judge_request *r, const struct verdict *v,
                          int64_t index, struct judged *judged)
{
    judged->index = index;
    judged->got = v->got;
    judged->mid = v->want;
    judged->rad = judged->allowed = judged->shift = 0;
    judged->unwritten = v->unwritten;
    judged->kept = judged->changed = false;
    judged->tensor = v->tensor;
    tally_worst(t, v->right ? 0 : INFINITY, judged);
    if (!v->right) {
        tally_wrong(t, r, index, v->unwritten);
        t->fits = r->arithmetics.count;
    }
    tally_expect(r, DTYPE_F32, index, v->expected);
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

REF_FN double tally_allowed(const struct judge_request *r, const struct arithmetic *a, enum dtype dtype,
                            const struct ref_element *e)
{
    const double error = ref_error(&r->context, a, e) * (r->loosened > 0 ? r->loosened : 1);
    if (!isfinite(num_mid(e->value)))
        return 0; /* NaN and infinities must match exactly */
    return error + error_of_rounding(error_format(dtype), num_mid(e->value), error);
}

/* The error allowed by the admitted arithmetic: all classes up to it are honest. `fits` advances to the
 * tightest class that explains all elements so far; usually that is one evaluation, shared with the first. */
REF_FN double tally_arithmetics(struct tally *t, const struct judge_request *r, enum dtype dtype,
                                const struct ref_element *e, double distance)
{
    double allowed = 0;
    for (int i = 0; i <= r->arithmetics.admitted; i++) {
        const double most = tally_allowed(r, &r->arithmetics.item[i], dtype, e);
        allowed = most > allowed ? most : allowed;
        if (t->fits == i && distance != 0 && !(distance <= most))
            t->fits++;
    }
    while (t->fits > r->arithmetics.admitted && t->fits < r->arithmetics.count && distance != 0 &&
           !(distance <= tally_allowed(r, &r->arithmetics.item[t->fits], dtype, e)))
        t->fits++;
    return allowed;
}

/* Distance of the candidate's value from the exact value plus the common offset of its row (ref_shift).
 * *doubt bounds the error of this distance: the enclosure's radius, the slack, and the rounding of the moved
 * midpoint. */
REF_FN double tally_moved(const struct ref_element *e, double got, double shift, double overflow,
                          double *doubt)
{
    const double mid = num_mid(e->value) + shift;
    double slack;
    const double distance = tally_distance(got, mid, overflow, &slack);
    const double moving = shift == 0 ? 0 : fabs(mid) * 0x1p-53;
    *doubt = isfinite(mid) && isfinite(distance) ? e->value.rad + slack + moving : 0;
    return distance;
}

/* Applies the published check to one element; `distance` is without a shift. */
REF_FN bool tally_published(const struct judge_request *r, double got, double mid, double distance)
{
    return distance <= r->atol + r->rtol * fabs(mid) || (isinf(mid) && got == mid);
}

/* Judges an element of an in-out tensor that must keep its bits, or an element that must have the bits of
 * another tensor. Before the last rounding (`unrounded`) there are no bits to compare. */
REF_FN void tally_kept(struct tally *t, const struct judge_request *r, enum dtype dtype,
                       const struct ref_element *e, int64_t index, struct judged *judged)
{
    uint32_t bits = 0;
    const int64_t place = stored_at(r, index), at = place * r->element_bytes;
    const bool copied = e->kept == REF_COPIED;
    const unsigned char *got = (const unsigned char *)r->got + at;
    const unsigned char *held =
        copied ? (const unsigned char *)e->copied : (const unsigned char *)r->held + at;
    bool same = true;
    for (int i = 0; i < r->element_bytes && !r->unrounded; i++)
        same = same && got[i] == held[i];
    judged->index = index;
    judged->mid = r->unrounded ? 0 : stored_number(dtype, held, 0, &bits);
    judged->got = r->unrounded ? 0 : stored_number(dtype, r->got, place, &bits);
    judged->rad = judged->allowed = judged->shift = 0;
    judged->unwritten = !same && !r->held && bits == r->poison;
    judged->kept = true;
    judged->changed = !same;
    judged->tensor = r->output;
    tally_worst(t, same ? 0 : INFINITY, judged);
    t->changed += !same && !copied;
    if (!same) {
        tally_wrong(t, r, index, judged->unwritten);
        t->fits = r->arithmetics.count;
        t->published_wrong += !(fabs(judged->got - judged->mid) <= r->atol + r->rtol * fabs(judged->mid));
    }
    for (int i = 0; i < r->element_bytes && r->expected; i++)
        ((unsigned char *)r->expected)[at + i] = held[i];
}

/* Judges element `index` and fills *judged. TALLY_OPEN: the enclosure cannot decide, so MPFR must. */
REF_FN enum tally_result tally_element(struct tally *t, const struct judge_request *r, enum dtype dtype,
                                       const struct ref_element *e, int64_t index, struct judged *judged)
{
    uint32_t bits;
    double doubt;
    if (e->kept == REF_COPIED || (r->held && e->kept)) {
        tally_kept(t, r, dtype, e, index, judged);
        return TALLY_DECIDED;
    }
    const double got = stored_number(dtype, r->got, stored_at(r, index), &bits), mid = num_mid(e->value);
    const double shift = ref_shift(e), strain = ref_strain(e);
    const double distance = tally_moved(e, got, shift, error_overflow(dtype), &doubt);
    const double allowed = tally_arithmetics(t, r, dtype, e, distance);
    const bool unwritten =
        !r->held && bits == r->poison && !(stored_spares_none(dtype) && distance <= allowed);

    judged->index = index;
    judged->got = got;
    judged->mid = mid;
    judged->rad = e->value.rad;
    judged->allowed = allowed;
    judged->shift = shift;
    judged->unwritten = unwritten;
    judged->kept = judged->changed = false;
    judged->tensor = r->output;
    tally_expect(r, dtype, index, mid);

    if (unwritten || t->worst_ratio < 0 || !(distance < t->worst_ratio * allowed * (1 - 0x1p-50)))
        tally_worst(t, unwritten ? INFINITY : distance == 0 ? 0 : distance / allowed, judged);
    t->strain = strain > t->strain ? strain : t->strain;
    t->published_wrong += !tally_published(r, got, mid, shift == 0 ? distance : fabs(got - mid));
    if (unwritten || !(distance - doubt <= allowed)) {
        tally_wrong(t, r, index, unwritten);
        return TALLY_DECIDED;
    }
    return distance + doubt <= allowed ? TALLY_DECIDED : TALLY_OPEN;
}

#endif /* REF_DISCRETE */

#endif
