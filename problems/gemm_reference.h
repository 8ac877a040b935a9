/* The mathematics of a plain matrix product, c[m,n] = sum_k a[m,k] b[k,n]; b is [k,n], or [n,k] when the
 * fourth extent is 1. GEMM_LOAD reads an element of the operands' type; GEMM_PRODUCT_ERROR is what a product
 * may be off by itself. */

#define REF_CONTRACTION

enum { GEMM_A, GEMM_B, GEMM_C };
enum { GEMM_M, GEMM_N, GEMM_K, GEMM_TRANS };

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[GEMM_M];
    shape[1] = c->extent[GEMM_N];
    shape[2] = c->extent[GEMM_K];
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    return GEMM_LOAD(c, GEMM_A, m * c->extent[GEMM_K] + k);
}

REF_FN double ref_b(const struct ref_context *c, int64_t n, int64_t k)
{
    return GEMM_LOAD(c, GEMM_B, c->extent[GEMM_TRANS] ? n * c->extent[GEMM_K] + k
                                                      : k * c->extent[GEMM_N] + n);
}

/* Products of the exact class are integers. */
REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[GEMM_K];
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    (void)m;
    (void)n;
    e->value = acc_num(sum, ref_unit(c));
    ref_keep_sum(sum, e->part);
}

/* The accumulation, and for fp32 the products: their three-term TF32 form is off by up to 2^-21 of each.
 * The output's rounding is everybody's. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a,
                        const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, ref_unit(c));
    const double products = c->data == DATA_ANY ? facts.magnitude : 2 * sqrt(facts.square);
    return error_of_sum(a, c->data, &facts) + (c->data == DATA_EXACT ? 0 : GEMM_PRODUCT_ERROR * products);
}
