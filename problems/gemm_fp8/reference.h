/* gemm_fp8, the mathematics: y[m,n] = scale[n] * sum_k x[m,k] weight[n,k]. */

#define REF_CONTRACTION

enum { GEMM_X, GEMM_WEIGHT, GEMM_SCALE, GEMM_Y };
enum { PART_SUM, PART_SCALE = PART_SUM + REF_SUM_PARTS };

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[0];
    shape[1] = c->extent[1];
    shape[2] = c->extent[2];
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    return REF_E4M3(c, GEMM_X, m * c->extent[2] + k);
}

REF_FN double ref_b(const struct ref_context *c, int64_t n, int64_t k)
{
    return REF_E4M3(c, GEMM_WEIGHT, n * c->extent[2] + k);
}

/* Every e4m3 value is a multiple of 2^-9; integers of the exact class are multiples of 1. */
REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0x1p-18;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[2];
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    const double scale = REF_F32(c, GEMM_SCALE, n);
    const num s = acc_num(sum, ref_unit(c));
    (void)m;
    e->value = num_mul(s, num_of(scale));
    ref_keep_sum(sum, e->part + PART_SUM);
    e->part[PART_SCALE] = scale;
}

/* The accumulation, E; then the sum may be rounded to bf16, R; then one fp32 product with the scale. A scale that
 * multiplies partial sums or an operand instead rounds each by u: u ||p|| or less, which R = 2^-9 |s| hides, or E where s
 * vanishes. In the exact class E = 0 and the scale is a power of two, so the product is exact and rounding the sum is
 * rounding the output: of all that is admitted one bf16 results, the nearest. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a,
                        const struct ref_element *e)
{
    const double *part = e->part;
    const struct sum_facts facts = ref_kept_sum(part + PART_SUM, ref_unit(c));
    const double sum = error_of_sum(a, c->data, &facts);
    if (c->data == DATA_EXACT && sum == 0)
        return 0;
    const double rounded = sum + error_of_rounding(error_format(DTYPE_BF16), part[PART_SUM], sum);
    return fabs(part[PART_SCALE]) * (rounded + UNIT_F32 * fabs(part[PART_SUM]));
}
