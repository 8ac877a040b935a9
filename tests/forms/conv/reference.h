/* conv, the mathematics:
 *
 *     y[n, f, i, j] = sum_(c, u, v) x[n, g C + c, i s + u - p, j s + v - p] w[f, c, u, v]
 *
 * Filter f belongs to group g, which has C channels; p is half of the window; x is 0 outside. As a
 * contraction, group g has the outputs' places (n, i, j) as rows and its filters as columns. Its depth is
 * (c, u, v). */

#define REF_CONTRACTION
#define REF_GROUPED
#define REF_INDEXED

enum { CONV_X, CONV_W, CONV_Y };
enum {
    CONV_IMAGES,
    CONV_CHANNELS,
    CONV_HEIGHT,
    CONV_WIDTH,
    CONV_FILTERS,
    CONV_WINDOW,
    CONV_GROUPS,
    CONV_STRIDE
};

REF_FN int64_t conv_out(int64_t size, int64_t stride)
{
    return (size + stride - 1) / stride;
}

REF_FN int64_t conv_across(const struct ref_context *c)
{
    return conv_out(c->extent[CONV_WIDTH], c->extent[CONV_STRIDE]);
}

/* Places of an image, of all images. */
REF_FN int64_t conv_area(const struct ref_context *c)
{
    return conv_out(c->extent[CONV_HEIGHT], c->extent[CONV_STRIDE]) * conv_across(c);
}

REF_FN int64_t conv_places(const struct ref_context *c)
{
    return c->extent[CONV_IMAGES] * conv_area(c);
}

/* Of a group. */
REF_FN int64_t conv_channels(const struct ref_context *c)
{
    return c->extent[CONV_CHANNELS] / c->extent[CONV_GROUPS];
}

REF_FN int64_t conv_filters(const struct ref_context *c)
{
    return c->extent[CONV_FILTERS] / c->extent[CONV_GROUPS];
}

REF_FN void ref_shape(const struct ref_context *c, int64_t shape[3])
{
    shape[0] = c->extent[CONV_GROUPS] * conv_places(c);
    shape[1] = conv_filters(c);
    shape[2] = conv_channels(c) * c->extent[CONV_WINDOW] * c->extent[CONV_WINDOW];
}

REF_FN int64_t ref_groups(const struct ref_context *c)
{
    return c->extent[CONV_GROUPS];
}

REF_FN int64_t ref_group_first(const struct ref_context *c, int64_t group)
{
    return group * conv_places(c);
}

REF_FN double ref_a(const struct ref_context *c, int64_t m, int64_t k)
{
    const int64_t window = c->extent[CONV_WINDOW], height = c->extent[CONV_HEIGHT],
                  width = c->extent[CONV_WIDTH];
    const int64_t group = m / conv_places(c), image = m % conv_places(c) / conv_area(c),
                  at = m % conv_area(c);
    const int64_t i = at / conv_across(c) * c->extent[CONV_STRIDE] + k / window % window - window / 2;
    const int64_t j = at % conv_across(c) * c->extent[CONV_STRIDE] + k % window - window / 2;
    const int64_t channel = group * conv_channels(c) + k / window / window;
    if (i < 0 || i >= height || j < 0 || j >= width)
        return 0;
    return REF_BF16(c, CONV_X, ((image * c->extent[CONV_CHANNELS] + channel) * height + i) * width + j);
}

REF_FN double ref_b(const struct ref_context *c, int64_t group, int part, int64_t n, int64_t k)
{
    const int64_t depth = conv_channels(c) * c->extent[CONV_WINDOW] * c->extent[CONV_WINDOW];
    (void)part;
    return REF_BF16(c, CONV_W, (group * conv_filters(c) + n) * depth + k);
}

REF_FN int64_t ref_index(const struct ref_context *c, int64_t m, int64_t n)
{
    const int64_t group = m / conv_places(c), image = m % conv_places(c) / conv_area(c),
                  at = m % conv_area(c);
    return (image * c->extent[CONV_FILTERS] + group * conv_filters(c) + n) * conv_area(c) + at;
}

REF_FN void ref_place_of(const struct ref_context *c, int64_t index, int64_t place[2])
{
    const int64_t filter = index / conv_area(c) % c->extent[CONV_FILTERS];
    const int64_t image = index / conv_area(c) / c->extent[CONV_FILTERS];
    place[0] = filter / conv_filters(c) * conv_places(c) + image * conv_area(c) + index % conv_area(c);
    place[1] = filter % conv_filters(c);
}

REF_FN double ref_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)(conv_channels(c) * c->extent[CONV_WINDOW] * c->extent[CONV_WINDOW]);
}

REF_FN void ref_finish(const struct ref_context *c, int64_t m, int64_t n, const struct acc *sum,
                       struct ref_element *e)
{
    (void)m;
    (void)n;
    e->value = acc_num(sum, ref_unit(c));
    ref_keep_sum(sum, e->part);
}

REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, ref_unit(c));
    return error_of_sum(a, c->data, &facts);
}
