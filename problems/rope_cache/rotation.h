/* rope_cache, shared by its three outputs: tensors, arguments, and the rotation of one element. The first
 * rot_dim elements of a vector form pairs (x1, x2) at places (i, i + rot_dim / 2) or (2i, 2i + 1). With
 * cosine c and sine s of the token's position, x1' = x1 c - x2 s and x2' = x2 c + x1 s. Infinity times 0 is
 * NaN, and so is the difference of infinities. */

enum { ROPE_KEY, ROPE_VALUE, ROPE_POSITIONS, ROPE_SLOTS, ROPE_COS_SIN, ROPE_QUERY };
enum {
    ROPE_TOKENS,
    ROPE_HEADS,
    ROPE_KV_HEADS,
    ROPE_DIM,
    ROPE_ROT,
    ROPE_PAGE_SIZE,
    ROPE_PAGES,
    ROPE_MAX_POSITION,
    ROPE_NEOX
};
enum { PART_TERMS, PART_FLUSHED };
#define REF_STORED (PART_FLUSHED + 1)

/* Rotates element d < rot_dim of the vector at `at` of tensor t, which belongs to `token`. The products are
 * exact in double. */
REF_FN void rope_rotate(const struct ref_context *c, int t, int64_t at, int64_t d, int64_t token,
                        struct ref_element *e)
{
    const int64_t rot = c->extent[ROPE_ROT], half = rot / 2;
    const bool halves = c->extent[ROPE_NEOX] != 0, second = halves ? d >= half : d % 2 != 0;
    const int64_t pair = halves ? d % half : d / 2, step = halves ? half : 1;
    const int64_t angle = REF_I64(c, ROPE_POSITIONS, token) * rot + pair;
    const double x = REF_BF16(c, t, at + d), y = REF_BF16(c, t, at + (second ? d - step : d + step));
    const double cosine = REF_F32(c, ROPE_COS_SIN, angle), sine = REF_F32(c, ROPE_COS_SIN, angle + half);
    const double own = x * cosine, other = second ? y * sine : -y * sine;
    e->value = own + other - (own + other) == 0 ? num_add(num_of(own), num_of(other)) : num_of(own + other);
    e->part[PART_TERMS] = fabs(own) + fabs(other);
    e->part[PART_FLUSHED] = 4 + fabs(cosine) + fabs(sine);
}

/* Two products and their sum in fp32, with u = 2^-24 and T = |x1 c| + |x2 s|. The products err by u T, the
 * sum by u (|value| + u T), together at most 2 u T (1 + u). Fused or exact steps err less. Elements, products
 * and the result may be flushed below 2^-126. With DATA_EXACT all of these are small integers. A key's
 * elements from rot_dim on do not change. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)a;
    if (c->data == DATA_EXACT)
        return 0;
    return 2 * UNIT_F32 * (1 + UNIT_F32) * e->part[PART_TERMS] + 0x1p-126 * e->part[PART_FLUSHED];
}
