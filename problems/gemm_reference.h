/* The mathematics of a matrix product, c[m,n] = sum_k a[m,k] b[k,n]; b is [k,n], or [n,k] if the fourth
 * extent is 1. The includer defines GEMM_LOAD, which loads an operand's element, and GEMM_PRODUCT_ERROR, the
 * relative error of a single product. */

#define REF_CONTRACTION
#define REF_STORED REF_SUM_PARTS

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
    return GEMM_LOAD(c, GEMM_B,
                     c->extent[GEMM_TRANS] ? n * c->extent[GEMM_K] + k : k * c->extent[GEMM_N] + n);
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

/* The error of the accumulation, plus that of the products e_k p_k with |e_k| <= GEMM_PRODUCT_ERROR. The
 * latter is at most GEMM_PRODUCT_ERROR times sum|p|. If p has random signs, a sum of many grows like ||p||.
 * So twice ||p|| is used from 4 terms on, below which sum|p| <= 2 ||p||. The products are exact if the sum
 * is: an integer of so few bits loses nothing, nor does +-1. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, ref_unit(c));
    const double norms = 2 * sqrt(facts.square);
    const double products = c->data == DATA_ANY || norms > facts.magnitude ? facts.magnitude : norms;
    const bool exact = c->data == DATA_EXACT || GEMM_PRODUCT_ERROR == 0;
    return error_of_sum(a, c->data, &facts) + (exact ? 0 : GEMM_PRODUCT_ERROR * products);
}
