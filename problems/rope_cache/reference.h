/* rope_cache, the first output: the queries of every token, rotated in place. Elements from rot_dim on keep
 * their bits. */
#include "problems/rope_cache/rotation.h"

#define REF_ELEMENTS

REF_FN int64_t ref_count(const struct ref_context *c)
{
    return c->extent[ROPE_TOKENS] * c->extent[ROPE_HEADS] * c->extent[ROPE_DIM];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    (void)c;
    return 2;
}

REF_FN void ref_element(const struct ref_context *c, int64_t index, struct ref_element *e)
{
    const int64_t dim = c->extent[ROPE_DIM], vector = index / dim, d = index - vector * dim;
    e->kept = d >= c->extent[ROPE_ROT];
    if (!e->kept)
        rope_rotate(c, ROPE_QUERY, vector * dim, d, vector / c->extent[ROPE_HEADS], e);
}
