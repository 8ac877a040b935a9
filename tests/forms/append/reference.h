/* append, the mathematics: cache[slot[t], d] becomes cache[slot[t], d] + x[t, d]; every other row keeps its
 * bits. */

#define REF_ELEMENTS

enum { APPEND_X, APPEND_SLOT, APPEND_CACHE };
enum { APPEND_TOKENS, APPEND_SLOTS, APPEND_DIM };

REF_FN int64_t ref_count(const struct ref_context *c)
{
    return c->extent[APPEND_SLOTS] * c->extent[APPEND_DIM];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[APPEND_TOKENS];
}

REF_FN void ref_element(const struct ref_context *c, int64_t index, struct ref_element *e)
{
    const int64_t dim = c->extent[APPEND_DIM];
    int64_t token = 0;
    while (token < c->extent[APPEND_TOKENS] && REF_I32(c, APPEND_SLOT, token) != index / dim)
        token++;
    e->kept = token == c->extent[APPEND_TOKENS];
    if (!e->kept)
        e->value = num_add(num_of(REF_BF16(c, APPEND_CACHE, index)),
                           num_of(REF_F32(c, APPEND_X, token * dim + index % dim)));
}

/* One addition in fp32. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c, (void)a;
    return UNIT_F32 * fabs(num_mid(e->value));
}
