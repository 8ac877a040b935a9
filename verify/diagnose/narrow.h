/* Which elements are enough: delta debugging over boxes of tensors, halved until they are single elements. */
#ifndef UNSEEN_NARROW_H
#define UNSEEN_NARROW_H

#include "verify/session/mixture.h"

enum { NARROW_BOXES = 16 }; /* so many at the most: what takes more is spread */

/* 1: it fails when these are kept of the failing content; 0: it passes; -1: nothing may be run any more. */
typedef int narrow_fails(void *data, const struct box *keep, int keeps);

struct narrow {
    const struct mixture *of; /* fails when all is kept, passes when nothing is */
    narrow_fails *fails;
    void *data;

    struct box box[NARROW_BOXES]; /* it fails when these are kept */
    int boxes;
    bool minimal; /* without any one of these elements it passes */
    bool spread;  /* it needs elements of more boxes than there are */
};

void narrow(struct narrow *narrow);

#endif
