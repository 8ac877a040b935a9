/* The properties of a sum that ref_error needs, stored among an element's parts. */
#ifndef UNSEEN_SUMS_H
#define UNSEEN_SUMS_H

enum { REF_SUM_PARTS = 4 }; /* parts per sum */

REF_FN void ref_keep_sum(const struct acc *s, double part[REF_SUM_PARTS])
{
    const struct sum_facts f = acc_facts(s, 0);
    part[0] = f.value;
    part[1] = f.magnitude;
    part[2] = f.square;
    part[3] = f.terms;
}

REF_FN struct sum_facts ref_kept_sum(const double part[REF_SUM_PARTS], double unit)
{
    struct sum_facts f;
    f.value = part[0];
    f.magnitude = part[1];
    f.square = part[2];
    f.terms = part[3];
    f.unit = unit;
    return f;
}

#endif
