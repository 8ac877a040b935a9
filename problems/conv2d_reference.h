/* The mathematics of a convolution,
 *   y[n,f,i,j] = bias[f] + sum_(c,u,v) weight[f,c,u,v]
 *                          x[n, g C + c, i stride_h - pad_h + u dil_h, j stride_w - pad_w + v dil_w],
 * where g is the group of filter f and C its number of channels. Taps outside of x are no terms. As a
 * contraction, the rows of group g are the output places (n, i, j), its columns the filters, its depth (c, u,
 * v).
 *
 * The includer defines CONV_LOAD, which loads an element of x or weight, and three properties:
 * - CONV_PRODUCT_ERROR: relative error of a single product
 * - CONV_ROUNDS_SUM: the sum may be rounded to bf16 before the bias is added
 * - CONV_TRANSFORMS: Winograd's F(2x2, 3x3) is admitted */

#define REF_CONTRACTION
#define REF_GROUPED
#define REF_INDEXED

enum { CONV_X, CONV_WEIGHT, CONV_BIAS, CONV_Y };
enum {
    CONV_N,
    CONV_C,
    CONV_H,
    CONV_W,
    CONV_O,
    CONV_KH,
    CONV_KW,
    CONV_STRIDE_H,
    CONV_STRIDE_W,
    CONV_PAD_H,
    CONV_PAD_W,
    CONV_DIL_H,
    CONV_DIL_W,
    CONV_GROUPS
};
enum { PART_SUM, PART_BIAS = PART_SUM + REF_SUM_PARTS, PART_REACH, PART_SQUARE };
#define REF_STORED (PART_SQUARE + 1)

REF_FN int64_t conv_out_rows(const struct ref_context *c)
{
    const int64_t *e = c->extent;
    return (e[CONV_H] + 2 * e[CONV_PAD_H] - e[CONV_DIL_H] * (e[CONV_KH] - 1) - 1) / e[CONV_STRIDE_H] + 1;
}

REF_FN int64_t conv_out_columns(const struct ref_context *c)
{
    const int64_t *e = c->extent;
    return (e[CONV_W] + 2 * e[CONV_PAD_W] - e[CONV_DIL_W] * (e[CONV_KW] - 1) - 1) / e[CONV_STRIDE_W] + 1;
}

/* Of one group: the outputs per filter, the channels, the filters, the terms per output. */
REF_FN int64_t conv_places(const struct ref_context *c)
{
    return c->extent[CONV_N] * conv_out_rows(c) * conv_out_columns(c);
}

REF_FN int64_t conv_channels(const struct ref_context *c)
{
    return c->extent[CONV_C] / c->extent[CONV_GROUPS];
}

REF_FN int64_t conv_filters(const struct ref_context *c)
{
    return c->extent[CONV_O] / c->extent[CONV_GROUPS];
}

REF_FN int64_t conv_depth(const struct ref_context *c)
{
    return conv_channels(c) * c->extent[CONV_KH] * c->extent[CONV_KW];
}

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[CONV_GROUPS] * conv_places(c);
    shape[1] = conv_filters(c);
    shape[2] = conv_depth(c);
}

REF_FN int64_t ref_groups(const struct ref_context *c)
{
    return c->extent[CONV_GROUPS];
}

REF_FN int64_t ref_group_first(const struct ref_context *c, int64_t group)
{
    return group * conv_places(c);
}

/* The position of the window of row m. */
#define REF_PLACED
struct ref_row {
    int64_t group, image, row, column; /* indices of the output */
    /* in x: the first plane of the group in that image, and the window's top left corner */
    int64_t plane, top, left;
};

REF_FN struct ref_row ref_row_of(const struct ref_context *c, int64_t m)
{
    const int64_t rows = conv_out_rows(c), columns = conv_out_columns(c);
    struct ref_row at;
    at.column = m % columns;
    m /= columns;
    at.row = m % rows;
    m /= rows;
    at.image = m % c->extent[CONV_N];
    at.group = m / c->extent[CONV_N];
    at.plane = at.image * c->extent[CONV_C] + at.group * conv_channels(c);
    at.top = at.row * c->extent[CONV_STRIDE_H] - c->extent[CONV_PAD_H];
    at.left = at.column * c->extent[CONV_STRIDE_W] - c->extent[CONV_PAD_W];
    return at;
}

/* The input under tap (u, v) of channel `channel` of the window's group; 0 outside of x. */
REF_FN double conv_tap(const struct ref_context *c, const struct ref_row *at, int64_t channel, int64_t u,
                       int64_t v)
{
    const int64_t height = c->extent[CONV_H], width = c->extent[CONV_W];
    const int64_t i = at->top + u * c->extent[CONV_DIL_H], j = at->left + v * c->extent[CONV_DIL_W];
    if (i < 0 || i >= height || j < 0 || j >= width)
        return 0;
    return CONV_LOAD(c, CONV_X, ((at->plane + channel) * height + i) * width + j);
}

struct ref_term {
    int64_t channel, u, v;
};

REF_FN struct ref_term ref_term_of(const struct ref_context *c, int64_t k)
{
    const int64_t kw = c->extent[CONV_KW], kh = c->extent[CONV_KH], row = k / kw;
    return (struct ref_term){row / kh, row % kh, k % kw};
}

REF_FN double ref_a_of(const struct ref_context *c, const struct ref_row *row, const struct ref_term *term)
{
    return conv_tap(c, row, term->channel, term->u, term->v);
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    const struct ref_row row = ref_row_of(c, m);
    const struct ref_term term = ref_term_of(c, k);
    return ref_a_of(c, &row, &term);
}

REF_FN double ref_b(const struct ref_context *c, int64_t group, int part, int64_t n, int64_t k)
{
    (void)part;
    return CONV_LOAD(c, CONV_WEIGHT, (group * conv_filters(c) + n) * conv_depth(c) + k);
}

REF_FN int64_t ref_index(const struct ref_context *c, int64_t m, int64_t n)
{
    const struct ref_row at = ref_row_of(c, m);
    const int64_t plane = at.image * c->extent[CONV_O] + at.group * conv_filters(c) + n;
    return (plane * conv_out_rows(c) + at.row) * conv_out_columns(c) + at.column;
}

REF_FN void ref_place_of(const struct ref_context *c, int64_t index, int64_t place[2])
{
    const int64_t area = conv_out_rows(c) * conv_out_columns(c), plane = index / area;
    const int64_t filter = plane % c->extent[CONV_O], image = plane / c->extent[CONV_O];
    place[0] = filter / conv_filters(c) * conv_places(c) + image * area + index % area;
    place[1] = filter % conv_filters(c);
}

REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)conv_depth(c);
}

REF_FN bool conv_may_transform(const struct ref_context *c)
{
    const int64_t *e = c->extent;
    return CONV_TRANSFORMS && e[CONV_KH] == 3 && e[CONV_KW] == 3 && e[CONV_STRIDE_H] == 1 &&
           e[CONV_STRIDE_W] == 1 && e[CONV_DIL_H] == 1 && e[CONV_DIL_W] == 1;
}

/* Bounds the sums in Winograd's F(2x2, 3x3) for one output. Let g be the weights of a channel and d the
 * inputs of the
 * output's own window; no other input of the tile affects it. In one dimension the two outputs of a tile are
 *
 *     g0 (d0 - d2) + (g0 + g1 + g2)/2 (d1 + d2) + (g0 - g1 + g2)/2 (d2 - d1)
 *     (g0 + g1 + g2)/2 (d0 + d1) - (g0 - g1 + g2)/2 (d1 - d0) - g2 (d0 - d2)
 *
 * so |g_i| |d_j| is added at most K_ij times, where K = 1 except K_02 = K_20 = 2; in two dimensions K_ij
 * K_i'j' times. PART_REACH is the sum of these over all channels. PART_SQUARE bounds the sum of squares of
 * the nine products of every channel, computed from magnitudes. The matrix |G| |g| |G|' has a Frobenius norm
 * of at most 2 |g| (2 is the largest eigenvalue of |G|' |G|, rows (1 0 0), (1 1 1)/2 twice). Four inputs add
 * up to at most 2 |d|. Together: 16 |g|^2 |d|^2. */
REF_FN void conv_transformed(const struct ref_context *c, int64_t m, int64_t n, double *reach, double *square)
{
    const struct ref_row at = ref_row_of(c, m);
    const int64_t channels = conv_channels(c), filter = at.group * conv_filters(c) + n;
    *reach = *square = 0;
    for (int64_t channel = 0; channel < channels; channel++) {
        double d[3][3], sum[3], weights = 0, inputs = 0;
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) {
                d[u][v] = fabs(conv_tap(c, &at, channel, u, v));
                inputs += d[u][v] * d[u][v];
            }
        for (int v = 0; v < 3; v++)
            sum[v] = d[0][v] + d[1][v] + d[2][v];
        for (int u = 0; u < 3; u++) {
            double row[3]; /* row u of K d */
            for (int v = 0; v < 3; v++)
                row[v] = sum[v] + (u == 1 ? 0 : d[2 - u][v]);
            for (int v = 0; v < 3; v++) {
                const double g =
                    fabs(CONV_LOAD(c, CONV_WEIGHT, (filter * channels + channel) * 9 + u * 3 + v));
                *reach += g * (row[0] + row[1] + row[2] + (v == 1 ? 0 : row[2 - v]));
                weights += g * g;
            }
        }
        *square += 16 * weights * inputs;
    }
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    const int64_t group = m / conv_places(c);
    const double bias = REF_F32(c, CONV_BIAS, group * conv_filters(c) + n);
    const num s = acc_num(sum, ref_unit(c));
    const double mid = num_mid(s);
    e->value = mid - mid == 0 ? num_add(s, num_of(bias)) : s;
    ref_keep_sum(sum, e->part + PART_SUM);
    e->part[PART_BIAS] = bias;
    e->part[PART_REACH] = e->part[PART_SQUARE] = 0;
    if (conv_may_transform(c))
        conv_transformed(c, m, n, &e->part[PART_REACH], &e->part[PART_SQUARE]);
}

/* Adds the bias as one more term, wherever the kernel adds it: the running sum is s, s + b, or in between. */
REF_FN struct sum_facts conv_with_bias(struct sum_facts sum, double bias)
{
    const double after = fabs(sum.value + bias);
    sum.terms += 1;
    sum.magnitude += fabs(bias);
    sum.square += bias * bias;
    sum.value = fabs(sum.value) > after ? fabs(sum.value) : after;
    return sum;
}

/* E is the accumulation of all terms and the bias. A unit with many terms per step may add the bias outside
 * of its
 * steps: u (|s| + |b|) more. P is the error of the products themselves (gemm_reference.h).
 *
 * Winograd's form sums products of transformed weights and inputs over the channels. Each product passes 2
 * roundings of sums of four inputs (two levels), 4 of weights (two sums of three; halves are exact), one of
 * the product, one per channel, and 4 of the sum of nine products. With C channels these are at most C + 11
 * roundings, in any order, of the terms that conv_transformed bounds. So T1 and T2 hold with C + 11 terms of
 * that reach and that norm. Integers stay exact, since all values are quarters. An honest kernel uses either
 * form.
 *
 * R, in bf16: the sum may be rounded to the output's format before the bias is added in fp32. Without a bias
 * that rounding is the last one. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const double bias = e->part[PART_BIAS], value = e->part[PART_SUM];
    const struct sum_facts alone = ref_kept_sum(e->part + PART_SUM, ref_unit(c));
    const struct sum_facts all = conv_with_bias(alone, bias);
    const double norms = 2 * sqrt(alone.square);
    const double products = c->data == DATA_ANY || norms > alone.magnitude ? alone.magnitude : norms;
    double error = error_of_sum(a, c->data, &all);
    if (error > 0)
        error += UNIT_F32 * (fabs(value) + fabs(bias));
    if (c->data != DATA_EXACT)
        error += CONV_PRODUCT_ERROR * products;
    if (conv_may_transform(c)) {
        struct sum_facts transformed = conv_with_bias(alone, bias);
        transformed.terms = (double)conv_channels(c) + 12;
        transformed.magnitude = e->part[PART_REACH] + fabs(bias);
        transformed.square = e->part[PART_SQUARE] + bias * bias;
        transformed.unit /= 4;
        error = fmax(error, error_of_sum(a, c->data, &transformed));
    }
    if (CONV_ROUNDS_SUM && bias != 0)
        error += error_of_rounding(error_format(DTYPE_BF16), value, error);
    return error;
}
