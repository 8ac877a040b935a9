/* layer_norm, shared by its three outputs: a row's mean m, variance v = sum (x - m)^2 / cols and rstd = 1 /
 * sqrt(v + eps), and the errors of an honest fp32 kernel. A row with NaN is NaN in all of them. Infinities
 * are outside the contract. */

enum { NORM_X, NORM_GAMMA, NORM_BETA };
enum { NORM_ROWS, NORM_COLS, NORM_EPS };
enum { PART_ERROR };
#define REF_STORED (PART_ERROR + 1)

struct ref_state {
    bool undefined;
    num mean, rstd;
    double mean_error; /* absolute error bound of the mean */
    double rstd_error; /* relative error bound of rstd */
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[NORM_ROWS];
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 2.0 * (double)c->extent[NORM_COLS];
}

/* Errors with u = 2^-24, A the mean of |x|. A sum of n terms in any order and split, or a running mean
 * (Welford, merged parts), errs by 4 n u of the sum of magnitudes; at most 2^-12 is admitted. So the mean is
 * within d = c A, c = min(4 n u, 2^-12), and two roundings. Deviations from a mean that is off by d give v +
 * d^2. Running means that are each off by at most d add sum 2 (x - m) d / n <= 2 sqrt(v) d. The sum of
 * squares errs by c v as above, and by 8 u for subtraction, square and division. So |v' - v| <= (c + 8 u) v +
 * 2 sqrt(v) d + d^2. By its derivative, rstd errs by half of that over v + eps, and by 8 u for root,
 * reciprocal (2 ulp each) and addition. */
REF_FN void norm_errors(const struct ref_context *c, double magnitude, double variance,
                        struct ref_state *state)
{
    const double cols = (double)c->extent[NORM_COLS], chain = 4 * cols * UNIT_F32;
    const double share = chain < 0x1p-12 ? chain : 0x1p-12, off = share * magnitude / cols;
    const double spread = (share + 8 * UNIT_F32) * variance + 2 * sqrt(variance) * off + off * off;
    state->mean_error = off + 2 * UNIT_F32 * fabs(num_mid(state->mean)) + 0x1p-126;
    state->rstd_error = spread / (2 * (variance + c->scalar[NORM_EPS])) + 8 * UNIT_F32;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t cols = c->extent[NORM_COLS];
    struct acc sum = acc_zero(), squares = acc_zero();
    bool undefined = false;
    (void)scratch;

    for (int64_t j = REF_LANE; j < cols; j += REF_LANES) {
        const double x = REF_F32(c, NORM_X, row * cols + j);
        undefined = undefined || x - x != 0;
        acc_add_product(&sum, x, 1);
    }
    state->undefined = ref_all_any(undefined);
    ref_all_acc(&sum);
    state->mean = num_div(acc_num(&sum, 0), num_of((double)cols));
    for (int64_t j = REF_LANE; j < cols && !state->undefined; j += REF_LANES) {
        const num d = num_sub(num_of(REF_F32(c, NORM_X, row * cols + j)), state->mean);
        acc_add(&squares, num_mul(d, d));
    }
    ref_all_acc(&squares);
    const num variance = num_div(acc_num(&squares, 0), num_of((double)cols));
    state->rstd = num_div(num_of(1), num_sqrt(num_add(variance, num_of(c->scalar[NORM_EPS]))));
    norm_errors(c, sum.magnitude, num_mid(variance), state);
}

REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c;
    (void)a;
    return e->part[PART_ERROR];
}
