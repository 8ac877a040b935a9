/* fp4, the mathematics: q[r, c] = w[r, c] scale[r, c / 16] + step[r, c], and +-6 beyond the format. The sum
 * is exact in fp64, so that its midpoint decides. */

#define REF_ELEMENTS

enum { FP4_W, FP4_SCALE, FP4_STEP };
enum { FP4_ROWS, FP4_BLOCKS };

REF_FN int64_t ref_count(const struct ref_context *c)
{
    return 16 * c->extent[FP4_ROWS] * c->extent[FP4_BLOCKS];
}

REF_FN double ref_cost(const struct ref_context *c)
{
    (void)c;
    return 2;
}

REF_FN void ref_element(const struct ref_context *c, int64_t index, struct ref_element *e)
{
    const double product = REF_E2M1(c, FP4_W, index) * REF_E4M3(c, FP4_SCALE, index / 16); /* exact */
    e->part[0] = fabs(product);
    e->value = num_add(num_of(product), num_of(REF_F32(c, FP4_STEP, index)));
    if (fabs(num_mid(e->value)) > 6)
        e->value = num_of(num_mid(e->value) > 0 ? 6 : -6);
}

/* A product and an addition in fp32. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c, (void)a;
    return UNIT_F32 * (e->part[0] + fabs(num_mid(e->value)));
}
