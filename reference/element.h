/* Where an element of the judged output lies, on the host and in kernels. The includer must define REF_FN. */
#ifndef UNSEEN_ELEMENT_H
#define UNSEEN_ELEMENT_H

#include "../problems/dtype.h"
#include "judge.h"

/* Memory offset of element `index` of the judged output, in elements; rows are `pitch` elements apart. */
REF_FN int64_t element_at(const struct judge_request *r, int64_t index)
{
    return format_place(r->width, r->pitch, index);
}

#endif
