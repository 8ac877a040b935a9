/* Finds a small set of elements that suffices to fail, by delta debugging: halves boxes of tensors down to
 * single elements. */
#ifndef UNSEEN_INPUT_DDMIN_BOXES_H
#define UNSEEN_INPUT_DDMIN_BOXES_H

#include "verify/session/mixture.h"

enum { NARROW_BOXES = 16 }; /* at most; a failure that needs more boxes is spread */

/* Makes a call with values of the failing draw in the boxes `keep`, and of the passing draw elsewhere.
 * Returns 1: it fails; 0: it does not; -1: no more runs are allowed. */
typedef int input_boxes_fails(void *data, const struct box *keep, int keeps);

struct narrow {
    const struct mixture *of; /* fails if everything is kept, passes if nothing is */
    input_boxes_fails *fails;
    void *data;

    struct box box[NARROW_BOXES]; /* a call that keeps these boxes fails */
    int boxes;
    bool minimal; /* every one of these elements is needed */
    bool spread;  /* the failure needs more than NARROW_BOXES boxes */
};

/* Fills box, boxes, minimal and spread; the caller sets the fields above them. */
void narrow(struct narrow *narrow);

#endif
