/* Stores the enclosure of an element, and reads it again; the same code on the host and in kernels. The
 * includer must define REF_FN, and include the numbers of enclosures and the problem's reference.h. */
#ifndef UNSEEN_ENCLOSURE_STORE_H
#define UNSEEN_ENCLOSURE_STORE_H

#include "element.h"

#ifdef REF_STORED

/* Doubles of a stored enclosure: the midpoint or copied bits, the radius, `kept`, and then the parts. */
enum { STORED_MID, STORED_RAD, STORED_KEPT, STORED_PARTS };

REF_FN void enclosure_put(const struct judge_request *r, enum dtype dtype, const struct ref_element *e,
                          int64_t index)
{
    double *const to = r->store + index * REF_STORED_DOUBLES(REF_STORED);
    to[STORED_KEPT] = e->kept;
    to[STORED_MID] = e->kept ? 0 : num_mid(e->value);
    to[STORED_RAD] = e->kept ? 0 : e->value.rad;
    for (int i = 0; i < REF_STORED; i++)
        to[STORED_PARTS + i] = e->kept ? 0 : e->part[i];
    if (e->kept == REF_COPIED)
        dtype_copy(dtype, to, 0, e->copied, 0);
}

REF_FN void enclosure_get(const struct judge_request *r, int64_t index, struct ref_element *e)
{
    const double *const from = r->stored + index * REF_STORED_DOUBLES(REF_STORED);
    e->kept = (int)from[STORED_KEPT];
    e->copied = from;
    e->value = num_make(from[STORED_MID], from[STORED_RAD]);
    for (int i = 0; i < REF_STORED; i++)
        e->part[i] = from[STORED_PARTS + i];
}

#endif

#endif
