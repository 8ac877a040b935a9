/* cross_entropy, the output `row_loss`: lse - logits[r,label], exactly 0 for an ignored row. */
#include "problems/cross_entropy/by_row.h"

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    const int64_t label = REF_I64(c, CE_LABELS, row);
    (void)first, (void)count, (void)scratch;
    e->value = num_of(0);
    e->part[PART_ERROR] = 0;
    if (label != c->extent[CE_IGNORE_INDEX])
        e->value = ce_loss(c, row, label, &state->row, &e->part[PART_ERROR]);
}
