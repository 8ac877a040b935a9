/* rope_cache, the output `value_cache`: values in their slots, bit for bit. */
#include "problems/rope_cache/pages.h"

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)row;
    for (int64_t j = 0; j < count; j++) {
        const struct rope_source s = rope_source(state, scratch, first + j);
        e[j].kept = s.token < 0 ? true : REF_COPIED;
        e[j].copied = (const uint16_t *)c->tensor[ROPE_VALUE] + (s.token < 0 ? 0 : s.vector + s.d);
    }
}
