/* softmax, the mathematics: y[r,c] = exp(x[r,c] - max_r) / sum_j exp(x[r,j] - max_r). A row with +inf or NaN,
 * or only -inf, is all NaN. */

#define REF_SHIFTED

enum { SOFTMAX_X, SOFTMAX_Y };
enum { PART_VALUE, PART_DISTANCE, PART_SIZE, PART_ROW, PART_FACTOR, PART_STRAIN };

enum { SOFTMAX_PROBES = 3, SOFTMAX_SHARED_COLS = 128 };

struct ref_state {
    double max;
    bool undefined;
    num sum;
    double mean_distance; /* sum exp(x - max) (max - x) / sum exp(x - max) */
    double log_sum;       /* log of `sum`: exact results are exp(-(max - x) - log_sum) */
    double row;           /* relative error allowed besides an element's own share */
    double factor;        /* common relative offset of all results of the candidate's row; 0: none */
    /* factor| over its allowed value; above 1 the factor is 0 */
    double strain;
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[0];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[1];
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 16.0 * (double)c->extent[1]; /* an exponential costs about sixteen additions */
}

/* The relative errors of softmax in fp32, in units u = 2^-24, proved for every way to compute it; t = max - x
 * +
 * log_sum, L = log_sum, D = mean distance. If logits and maxima are multiplied by log2 e before they are
 * subtracted, a rounded product errs by half an ulp of the logit, |x| u: admitted up to 2^-10.
 *
 * An element's own error has these parts. Its argument is rounded when the maximum and the logarithm of the
 * sum are subtracted (t u each), or by |x| u twice as above. It is also rounded by the product with log2 e
 * and the constant (1.224 t u). An exponential errs by 2 ulp (4 u). A second one that rescales from the
 * tile's maximum to the row's errs as much, with a product (5 u). A quotient errs by 2 ulp (4 u). Together 13
 * + 3.224 t + 2 |x|.
 *
 * All elements of a row share these errors. The denominator's exponentials err as above, weighted by its
 * terms: 4 + 4.224 D + 2 |max|. Its sum errs by 8 n u, an addition and a rescaling per term, but by at most
 * 2^-12. The logarithms of the splits' sums and of the row's sum add 6 + 7 L and a rounding of |max| each.
 * The rounded product of the last one with log2 e adds |max|. */
REF_FN double softmax_size(double x)
{
    return fabs(x) < 0x1p14 ? fabs(x) : 0x1p14;
}

REF_FN double softmax_own(double distance, double size)
{
    return (14 + 3.25 * distance + 2 * size) * UNIT_F32;
}

REF_FN double softmax_shared(const struct ref_context *c, const struct ref_state *state)
{
    const double chain = 8 * (double)c->extent[1] * UNIT_F32;
    return (16 + 14 * state->log_sum + 4.25 * state->mean_distance + 5 * softmax_size(state->max)) *
               UNIT_F32 +
           (chain < 0x1p-12 ? chain : 0x1p-12);
}

/* The largest value of columns [from, end). */
REF_FN double softmax_greatest(const struct ref_context *c, int64_t row, int64_t from, int64_t end)
{
    double max = -INFINITY;
    for (int64_t j = from + REF_LANE; j < end; j += REF_LANES) {
        const double x = REF_F32(c, SOFTMAX_X, row * c->extent[1] + j);
        max = x > max ? x : max;
    }
    return ref_all_max(max);
}

/* The first of columns [from, end) that holds x. */
REF_FN int64_t softmax_find(const struct ref_context *c, int64_t row, int64_t from, int64_t end, double x)
{
    int64_t j = from + REF_LANE;
    while (j < end && REF_F32(c, SOFTMAX_X, row * c->extent[1] + j) != x)
        j += REF_LANES;
    return -(int64_t)ref_all_max(-(double)(j < end ? j : end - 1));
}

REF_FN double softmax_middle(const double x[SOFTMAX_PROBES])
{
    const double low = x[0] < x[1] ? x[0] : x[1], high = x[0] < x[1] ? x[1] : x[0];
    return x[2] < low ? low : x[2] > high ? high : x[2];
}

/* A factor shared by all of the candidate's results in a row is not an error of each: it is estimated, and
 * elements are judged relative to it. Probes are the largest elements of the row's three thirds. Their
 * deviations are 1 + f up to their own errors own_p (the output's rounding is the 14th unit). So the middle
 * one is within the middle own_p of f, and no single wrong element can move it further. A smaller factor
 * counts as none: f is then within twice that of 0. The shared error is allowed to each element instead in
 * short rows, and if a third has no element large enough to be exact to 2^-24 despite flushing. */
REF_FN void softmax_share(const struct ref_context *c, int64_t row, struct ref_state *state)
{
    const int64_t cols = c->extent[1];
    const double shared = softmax_shared(c, state), sum = num_mid(state->sum);
    double deviation[SOFTMAX_PROBES], own[SOFTMAX_PROBES];
    state->row = shared;
    state->factor = state->strain = 0;
    if (cols < SOFTMAX_SHARED_COLS || state->undefined)
        return;
    for (int p = 0; p < SOFTMAX_PROBES; p++) {
        const int64_t from = p * cols / SOFTMAX_PROBES, end = (p + 1) * cols / SOFTMAX_PROBES;
        const double x = softmax_greatest(c, row, from, end), value = exp(x - state->max) / sum;
        if (!(value > 0x1p-100))
            return;
        const int64_t at = softmax_find(c, row, from, end, x);
        const double off = REF_F32(c, SOFTMAX_Y, row * cols + at) / value - 1;
        deviation[p] = off < INFINITY ? off : INFINITY; /* treats NaN as far off */
        own[p] = softmax_own(state->max - x + state->log_sum, softmax_size(x));
    }
    const double factor = softmax_middle(deviation), doubt = softmax_middle(own);
    state->strain = fabs(factor) / (shared + doubt);
    if (fabs(factor) > doubt && state->strain <= 1)
        state->factor = factor;
    state->row = state->factor != 0 ? doubt : 2 * doubt;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t cols = c->extent[1];
    double max = -INFINITY, weighted = 0;
    bool undefined = false;
    struct acc sum = acc_zero();
    (void)scratch;

    for (int64_t j = REF_LANE; j < cols; j += REF_LANES) {
        const double x = REF_F32(c, SOFTMAX_X, row * cols + j);
        undefined = undefined || !(x < INFINITY);
        max = x > max ? x : max;
    }
    state->max = ref_all_max(max);
    state->undefined = ref_all_any(undefined) || state->max == -INFINITY;
    if (!state->undefined)
        for (int64_t j = REF_LANE; j < cols; j += REF_LANES) {
            const double x = REF_F32(c, SOFTMAX_X, row * cols + j);
            if (x == -INFINITY)
                continue;
            const num e = num_exp(num_sub(num_of(x), num_of(state->max)));
            acc_add(&sum, e);
            weighted += num_mid(e) * (state->max - x);
        }
    ref_all_acc(&sum);
    state->sum = acc_num(&sum, 0);
    state->mean_distance = ref_all_sum(weighted) / num_mid(state->sum);
    state->log_sum = log(num_mid(state->sum));
    softmax_share(c, row, state);
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    (void)scratch;
    for (int64_t j = 0; j < count; j++) {
        const double x = REF_F32(c, SOFTMAX_X, row * c->extent[1] + first + j);
        if (state->undefined)
            e[j].value = num_of(NAN);
        else if (x == -INFINITY)
            e[j].value = num_of(0);
        else
            e[j].value = num_div(num_exp(num_sub(num_of(x), num_of(state->max))), state->sum);
        e[j].part[PART_VALUE] = fabs(num_mid(e[j].value));
        e[j].part[PART_DISTANCE] = x == -INFINITY ? 0 : state->max - x + state->log_sum;
        e[j].part[PART_SIZE] = softmax_size(x);
        e[j].part[PART_ROW] = state->row;
        e[j].part[PART_FACTOR] = state->factor;
        e[j].part[PART_STRAIN] = state->strain;
    }
}

/* Exponentials and results below 2^-126 may be flushed. The sum may be as small as 1/4 if a bound up to 1.38
 * above the maximum is subtracted, so a result of at most 2^-124 is lost. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double *part = e->part;
    (void)c;
    if (part[PART_VALUE] == 0)
        return 0x1p-126;
    return part[PART_VALUE] *
               (softmax_own(part[PART_DISTANCE], part[PART_SIZE]) + part[PART_ROW] + 2 * a->operand) +
           0x1p-124;
}

REF_FN double ref_shift(const struct ref_element *e)
{
    return e->part[PART_FACTOR] == 0 ? 0 : e->part[PART_VALUE] * e->part[PART_FACTOR];
}

REF_FN double ref_strain(const struct ref_element *e)
{
    return e->part[PART_STRAIN];
}
