/* gemm_fp8, the mathematics: y[m,n] = scale[n] * sum_k x[m,k] weight[n,k]. */

#define REF_CONTRACTION

enum { GEMM_X, GEMM_WEIGHT, GEMM_SCALE, GEMM_Y };
enum { PART_SUM, PART_SCALE = PART_SUM + REF_SUM_PARTS };
#define REF_STORED (PART_SCALE + 1)

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

REF_FN bool fp8_is_power_of_two(double x)
{
    return fabs(x) * UNIT_F32 == error_half_ulp(error_format(DTYPE_F32), x);
}

/* Error of an exact sum. R: the sum may be rounded to bf16. A scale other than 1 that multiplies an operand,
 * a product or partial sums rounds each of the N nonzero terms and N - 1 sums. That is at most sum p^2 - 1
 * times, and at most 2 k times, by u of the running size each. A power of two rounds nothing. Then rounding
 * the sum is the same as rounding the output, so all admitted ways give one bf16 result, the nearest. */
REF_FN double fp8_exact_error(const struct sum_facts *sum, double scale)
{
    const double roundings = sum->square - 1 < 2 * sum->terms ? sum->square - 1 : 2 * sum->terms;
    const double norm = sqrt(sum->square), value = fabs(sum->value);
    if (fp8_is_power_of_two(scale) || sum->square < 1)
        return 0;
    return fabs(scale) * (error_of_rounding(error_format(DTYPE_BF16), sum->value, 0) +
                          UNIT_F32 * roundings * (value > norm ? value : norm));
}

/* E, the accumulation; then R, the sum may be rounded to bf16; then one fp32 product with the scale. A scale
 * that multiplies partial sums or an operand instead rounds each by u: at most u ||p||. R = 2^-9 |s| covers
 * that, or E if s vanishes. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double *part = e->part;
    const struct sum_facts facts = ref_kept_sum(part + PART_SUM, ref_unit(c));
    const double sum = error_of_sum(a, c->data, &facts);
    if (c->data == DATA_EXACT && sum == 0)
        return fp8_exact_error(&facts, part[PART_SCALE]);
    const double rounded = sum + error_of_rounding(error_format(DTYPE_BF16), part[PART_SUM], sum);
    return fabs(part[PART_SCALE]) * (rounded + UNIT_F32 * fabs(part[PART_SUM]));
}
