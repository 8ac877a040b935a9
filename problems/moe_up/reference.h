/* moe_up, the mathematics: out[r,j] = silu(g) u with g = sum_h hidden[r,h] w_gate[e,h,j], u the same with
 * w_up, and silu(g) = g / (1 + exp(-g)). Row r belongs to the expert e with expert_offsets[e] <= r <
 * expert_offsets[e+1]. */

#define REF_CONTRACTION
#define REF_GROUPED
#define REF_SUMS 2

enum { MOE_HIDDEN, MOE_OFFSETS, MOE_W_GATE, MOE_W_UP, MOE_OUT };
enum { MOE_TOKENS, MOE_DIM, MOE_INTER, MOE_EXPERTS };
enum { OF_GATE, OF_UP };
enum { PART_GATE, PART_UP = PART_GATE + REF_SUM_PARTS };
#define REF_STORED (PART_UP + REF_SUM_PARTS)

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[MOE_TOKENS];
    shape[1] = c->extent[MOE_INTER];
    shape[2] = c->extent[MOE_DIM];
}

REF_FN int64_t ref_groups(const struct ref_context *c)
{
    return c->extent[MOE_EXPERTS];
}

REF_FN int64_t ref_group_first(const struct ref_context *c, int64_t expert)
{
    return REF_I32(c, MOE_OFFSETS, expert);
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    return REF_BF16(c, MOE_HIDDEN, m * c->extent[MOE_DIM] + k);
}

REF_FN double ref_b(const struct ref_context *c, int64_t expert, int part, int64_t n, int64_t k)
{
    const int64_t at = (expert * c->extent[MOE_DIM] + k) * c->extent[MOE_INTER] + n;
    return part == OF_GATE ? REF_BF16(c, MOE_W_GATE, at) : REF_BF16(c, MOE_W_UP, at);
}

/* Integers, or in `grid` multiples of 1/32. With at most 20 needles, sum |p| <= max(9 * 64, 8192) + 20 * 28^2
 * < 2^15, or 2^20 units. That is below 2^23 in any order and any split. So both fp32 and a matrix unit, which
 * drops bits 2^-24 below the largest term, are exact. */
REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 0x1p-5 : 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 2 * (double)c->extent[MOE_DIM] + 16;
}

/* g / (1 + exp(-g)); for g < 0 as g exp(g) / (1 + exp(g)), so that nothing overflows. */
REF_FN num moe_silu(num gate)
{
    const bool negative = num_mid(gate) < 0;
    const num e = num_exp(negative ? gate : num_neg(gate));
    const num weighted = negative ? num_mul(gate, e) : gate;
    return num_div(weighted, num_add(num_of(1), e));
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    (void)m;
    (void)n;
    e->value = num_mul(moe_silu(acc_num(&sum[OF_GATE], ref_unit(c))), acc_num(&sum[OF_UP], ref_unit(c)));
    ref_keep_sum(&sum[OF_GATE], e->part + PART_GATE);
    ref_keep_sum(&sum[OF_UP], e->part + PART_UP);
}

REF_FN double moe_silu_of(double g)
{
    return g / (1 + exp(-g));
}

/* The largest distance of silu over [g - r, g + r] from silu(g). silu decreases to its minimum -0.27846 at g
 * = -1.27846 and increases after it, so the two ends and that point bound the distance. */
REF_FN double moe_silu_spread(double g, double r)
{
    const double lowest = -1.2784645427610738, at = moe_silu_of(g);
    const double low = fabs(moe_silu_of(g - r) - at), high = fabs(moe_silu_of(g + r) - at);
    const double turn = g - r < lowest && lowest < g + r ? fabs(moe_silu_of(lowest) - at) : 0;
    const double ends = low > high ? low : high;
    return ends > turn ? ends : turn;
}

/* The rounding to bf16 of a number that is off from x by at most e. Its nearest bf16 value is within half an
 * ulp, and within dist(x) + e, the distance to the value nearest to x. */
REF_FN double moe_rounding(double x, double e)
{
    const struct format bf16 = error_format(DTYPE_BF16);
    const double half = error_half_ulp(bf16, fabs(x) + e), near = error_of_rounding(bf16, x, 0) + e;
    return half < near ? half : near;
}

/* Error of one sum: its accumulation, and an optional rounding to bf16. */
REF_FN double moe_sum_error(const struct ref_context *c, const struct arithmetic *a, const double *part)
{
    const struct sum_facts facts = ref_kept_sum(part, ref_unit(c));
    const double sum = error_of_sum(a, c->data, &facts);
    return sum + moe_rounding(facts.value, sum);
}

/* Bounds |out' - silu(g) up| for g' within G of g and up' within U of up (sums, each perhaps rounded to
 * bf16). The computed silu' differs from silu(g') by its own arithmetic, and may be rounded to bf16 (the
 * published reference multiplies bf16 tensors, F.silu(gate) * up). Two products in fp32 follow. With S =
 * |silu' - silu(g)|,
 *
 *     |out' - out| <= S (|up| + U) + |silu(g)| ((1 + u) U + 2 u |up|),   u = 2^-24.
 *
 * This is proved whether or not a kernel takes each of these steps, given error_of_sum for the sums. Honest
 * kernels come close to it.
 *
 * silu(g') - silu(g) is bounded over the whole interval. A first-order bound would reject honest kernels at
 * large negative gates, where silu halves every 0.7. The relative errors of silu's own arithmetic in units u
 * are: its exponential's 4 + 2.346 |g| (__expf, 2 + 1.173 |g| ulp), its argument's rounding (2 |g|), a sum
 * (1), a division (4) and a product (1): 12 + 4.346 |g|. If the exponential overflows, silu is 0 instead of a
 * value below 2^-120. g/2 (1 + tanh(g/2)) cancels at negative g: tanh as 1 - 2 / (1 + exp(g)) errs by 4 u,
 * tanhf by 2 u, times |g|/2; twice that is 4 u |g|. With matrix units the hardware's tanh is permitted, with
 * a relative error of 2^-11: 2^-12 |g' tanh(g'/2)| and a little. g tanh(g/2) = 2 silu(g) - g has a slope of
 * at most 1.2. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double g = e->part[PART_GATE], u = e->part[PART_UP];
    const double gate_error = moe_sum_error(c, a, e->part + PART_GATE);
    const double up_error = moe_sum_error(c, a, e->part + PART_UP);
    const double silu = moe_silu_of(g), size = fabs(silu);
    const double hardware_tanh = a->k > 1 ? 0x1.1p-12 * (fabs(2 * silu - g) + 1.2 * gate_error) : 0;
    const double arithmetic = UNIT_F32 * ((12 + 4.346 * fabs(g)) * size + 4 * fabs(g)) + hardware_tanh;
    const double silu_off = moe_silu_spread(g, gate_error) + arithmetic;
    const double silu_error = silu_off + moe_rounding(silu, silu_off);
    return silu_error * (fabs(u) + up_error) + (size + UNIT_F32 * size) * up_error +
           2 * UNIT_F32 * size * fabs(u);
}
