/* gemm_w4a16, the mathematics: y[m,n] = sum_k x[m,k] w[k,n], w[k,n] = (q[k,n] - zero) * scale, with the scale
 * and zero of row k / group. Here q is the low nibble of w_q[k/2,n] for even k, the high nibble for odd k. */

#define REF_CONTRACTION
#define REF_SIZED

enum { W4_X, W4_Q, W4_SCALES, W4_ZEROS, W4_Y };
enum { W4_M, W4_N, W4_K, W4_GROUP };
enum { PART_SUM, PART_SIZE = PART_SUM + REF_SUM_PARTS };
#define REF_STORED (PART_SIZE + REF_SUM_PARTS)
enum { OF_PRODUCTS, OF_SIZES };

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[W4_M];
    shape[1] = c->extent[W4_N];
    shape[2] = c->extent[W4_K];
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    return REF_BF16(c, W4_X, m * c->extent[W4_K] + k);
}

REF_FN double w4_quantized(const struct ref_context *c, int64_t n, int64_t k)
{
    return (double)(REF_U8(c, W4_Q, k / 2 * c->extent[W4_N] + n) >> (k % 2 * 4) & 15);
}

/* A weight is exact in double: 5 bits of q - zero times 8 bits of the scale. */
REF_FN double ref_b(const struct ref_context *c, int64_t n, int64_t k)
{
    const int64_t g = k / c->extent[W4_GROUP] * c->extent[W4_N] + n;
    return (w4_quantized(c, n, k) - REF_BF16(c, W4_ZEROS, g)) * REF_BF16(c, W4_SCALES, g);
}

/* Magnitude of the terms of a kernel that applies the zero point after the sum. It is nonzero even if q
 * equals the zero point. */
REF_FN double ref_b_size(const struct ref_context *c, int64_t n, int64_t k)
{
    const int64_t g = k / c->extent[W4_GROUP] * c->extent[W4_N] + n;
    return (w4_quantized(c, n, k) + fabs(REF_BF16(c, W4_ZEROS, g))) * fabs(REF_BF16(c, W4_SCALES, g));
}

/* In the exact class: integers times scales of 2^-3 and above. */
REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 0x1p-3 : 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[W4_K];
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    (void)m;
    (void)n;
    e->value = acc_num(&sum[OF_PRODUCTS], ref_unit(c));
    ref_keep_sum(&sum[OF_PRODUCTS], e->part + PART_SUM);
    ref_keep_sum(&sum[OF_SIZES], e->part + PART_SIZE);
}

/* E is the accumulation of terms as a kernel with a folded zero point has them. W is the rounding of weights
 * to bf16: |sum p_k d_k| with |d_k| <= u, so at most u sum|p| for any data. The signs of x make the signs of
 * the terms random, so W's deviation is that of the d. It is 0.4 u ||p|| on average over scales, and 0.65 u
 * ||p|| for the worst scale that a column may have throughout (its 16 weights, for each zero point). The
 * bound 5 u ||p|| is 7.7 times that, and the smaller bound from 25 even terms on. In the exact class weights
 * are small integers times powers of two, which bf16 represents. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts sum = ref_kept_sum(e->part + PART_SUM, ref_unit(c));
    struct sum_facts folded = ref_kept_sum(e->part + PART_SIZE, ref_unit(c));
    folded.value = sum.value;
    if (c->data == DATA_EXACT)
        return error_of_sum(a, c->data, &folded);
    const double norm = 5 * sqrt(sum.square);
    return error_of_sum(a, c->data, &folded) + UNIT_BF16 * (sum.magnitude < norm ? sum.magnitude : norm);
}
