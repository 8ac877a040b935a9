/* rms_norm, the mathematics: y[r,c] = x[r,c] / sqrt(sum_j x[r,j]^2 / cols + eps) * weight[c]. A row with NaN
 * is all NaN. A row with infinities has NaN at these and 0 elsewhere. A row of zeros is NaN if eps is 0. */

enum { RMS_X, RMS_WEIGHT, RMS_Y };
enum { RMS_ROWS, RMS_COLS, RMS_EPS };
enum { PART_QUOTIENT, PART_WEIGHT, PART_FLUSHED }; /* |x / rms|, |weight| */
#define REF_STORED (PART_FLUSHED + 1)

enum rms_row { RMS_FINITE, RMS_INFINITE, RMS_NAN };

struct ref_state {
    enum rms_row kind;
    num root; /* sqrt(mean square + eps) */
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[RMS_ROWS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[RMS_COLS];
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[RMS_COLS];
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t cols = c->extent[RMS_COLS];
    struct acc sum = acc_zero();
    bool nan = false, infinite = false;
    (void)scratch;

    for (int64_t j = REF_LANE; j < cols; j += REF_LANES) {
        const double x = REF_BF16(c, RMS_X, row * cols + j);
        nan = nan || x != x;
        infinite = infinite || x == INFINITY || x == -INFINITY;
        if (x - x == 0)
            acc_add_product(&sum, x, x);
    }
    nan = ref_all_any(nan);
    infinite = ref_all_any(infinite);
    ref_all_acc(&sum);
    const num mean = num_div(acc_num(&sum, 0), num_of((double)cols));
    state->root = num_sqrt(num_add(mean, num_of(c->scalar[RMS_EPS])));
    state->kind = nan || num_mid(state->root) == 0 ? RMS_NAN : infinite ? RMS_INFINITE : RMS_FINITE;
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)scratch;
    for (int64_t j = 0; j < count; j++) {
        const double x = REF_BF16(c, RMS_X, row * c->extent[RMS_COLS] + first + j);
        const double weight = REF_BF16(c, RMS_WEIGHT, first + j);
        const bool finite = state->kind == RMS_FINITE;
        if (finite)
            e[j].value = num_mul(num_div(num_of(x), state->root), num_of(weight));
        else
            e[j].value = num_of(state->kind == RMS_INFINITE && x - x == 0 ? 0 : NAN);
        e[j].part[PART_QUOTIENT] = finite ? fabs(x) / num_mid(state->root) : 0;
        e[j].part[PART_WEIGHT] = finite ? fabs(weight) : 0;
        e[j].part[PART_FLUSHED] = 1 + (finite ? fabs(weight) * (1 + 1 / num_mid(state->root)) : 0);
    }
}

/* Relative errors, u = 2^-24. The sum has only nonnegative terms: n u in any order, one rounding of each
 * square, and the same again if parts are merged. The bound is 8 n u; at most 2^-12 is admitted, and the root
 * halves it. Division by cols, eps, the root or its reciprocal within 2 ulp, a quotient or product, the
 * weight's product: 16 u. If the arithmetic class has bf16 operands, x / rms may be rounded to bf16 before
 * the weight. The rounding error is the distance to the nearest bf16 value, and at most half an ulp; so a
 * final result that is rounded differently is distinguished from it. Values below 2^-126 may be flushed: x,
 * which loses 2^-126 |weight| / rms (a row of subnormals is as long as eps allows); x / rms, which loses
 * 2^-126 |weight|; and the result. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct format bf16 = error_format(DTYPE_BF16);
    const double chain = 8 * (double)c->extent[RMS_COLS] * UNIT_F32, quotient = e->part[PART_QUOTIENT];
    const double error = quotient * ((chain < 0x1p-12 ? chain : 0x1p-12) / 2 + 16 * UNIT_F32);
    const double half = error_half_ulp(bf16, quotient + error),
                 near = error_of_rounding(bf16, quotient, 0) + error;
    const double rounded = (half < near ? half : near) * (a->operand / bf16.unit);
    return e->part[PART_WEIGHT] * (error + rounded) + 0x1p-126 * e->part[PART_FLUSHED];
}
