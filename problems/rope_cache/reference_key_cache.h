/* rope_cache, the output `key_cache`: rotated keys in their slots. Elements from rot_dim on are those of the
 * keys; a NaN may have any bits. */
#include "problems/rope_cache/pages.h"

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)row;
    for (int64_t j = 0; j < count; j++) {
        const struct rope_source s = rope_source(state, scratch, first + j);
        e[j].kept = s.token < 0;
        e[j].part[PART_TERMS] = e[j].part[PART_FLUSHED] = 0;
        if (!e[j].kept && s.d < c->extent[ROPE_ROT])
            rope_rotate(c, ROPE_KEY, s.vector, s.d, s.token, &e[j]);
        else if (!e[j].kept)
            e[j].value = num_of(REF_BF16(c, ROPE_KEY, s.vector + s.d));
    }
}
