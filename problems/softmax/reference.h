/* softmax, the mathematics: y[r,c] = exp(x[r,c] - max_r) / sum_j exp(x[r,j] - max_r).
 * A row with +inf or NaN, or of -inf only, is all NaN. */

enum { SOFTMAX_X, SOFTMAX_Y };
enum { PART_VALUE, PART_DISTANCE, PART_MEAN_DISTANCE, PART_COLS };

struct ref_state {
    double max;
    bool undefined;
    num sum;
    double mean_distance; /* sum exp(x - max) (max - x) / sum exp(x - max) */
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

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch,
                        struct ref_state *state)
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
        e[j].part[PART_DISTANCE] = x == -INFINITY ? 0 : state->max - x;
        e[j].part[PART_MEAN_DISTANCE] = state->mean_distance;
        e[j].part[PART_COLS] = (double)c->extent[1];
    }
}

/* Relative, in units u = 2^-24. One exponential of an argument at distance d below the maximum: the
 * subtraction rounds once (d u), a product with log2 e once more (d u), and __expf errs by up to
 * 2 + 1.173 d ulp of 2u each: 4 + 4.346 d in all. The denominator inherits the same, weighted by its
 * terms, and may sum within 2^-12 (8 n u while that is less: chains with a rescaling a term); the
 * division (__fdividef, or a reciprocal and a product) has 6. Exponentials below 2^-126 may flush. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a,
                        const struct ref_element *e)
{
    const double *part = e->part;
    const double numerator = 4 + 4.346 * part[PART_DISTANCE];
    const double terms = 4 + 4.346 * part[PART_MEAN_DISTANCE];
    const double chain = 8 * part[PART_COLS] * UNIT_F32;
    const double sum = chain < 0x1p-12 ? chain : 0x1p-12;
    (void)c;
    if (part[PART_VALUE] == 0)
        return 0x1p-126;
    return part[PART_VALUE] * ((numerator + terms + 6) * UNIT_F32 + sum + 2 * a->operand) + 0x1p-126;
}
