/* pool, the mathematics: y[c,i,j] is the mean of the elements x[c, i s .. i s + w - 1, j s .. j s + w - 1]
 * that lie inside. */

#define REF_ELEMENTS

enum { POOL_CHANNELS, POOL_HEIGHT, POOL_WIDTH, POOL_WINDOW, POOL_STRIDE };

REF_FN int64_t pool_out(int64_t size, int64_t stride)
{
    return (size + stride - 1) / stride;
}

REF_FN int64_t pool_end(int64_t first, int64_t window, int64_t size)
{
    return first + window < size ? first + window : size;
}

REF_FN int64_t ref_count(const struct ref_context *c)
{
    const int64_t stride = c->extent[POOL_STRIDE];
    return c->extent[POOL_CHANNELS] * pool_out(c->extent[POOL_HEIGHT], stride) *
           pool_out(c->extent[POOL_WIDTH], stride);
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)(c->extent[POOL_WINDOW] * c->extent[POOL_WINDOW]);
}

REF_FN double pool_unit(const struct ref_context *c)
{
    return c->data == DATA_EXACT ? 1 : 0;
}

REF_FN void ref_element(const struct ref_context *c, int64_t index, struct ref_element *e)
{
    const int64_t stride = c->extent[POOL_STRIDE], height = c->extent[POOL_HEIGHT],
                  width = c->extent[POOL_WIDTH];
    const int64_t across = pool_out(width, stride), down = pool_out(height, stride);
    const int64_t i0 = index / across % down * stride, j0 = index % across * stride;
    const int64_t i1 = pool_end(i0, c->extent[POOL_WINDOW], height);
    const int64_t j1 = pool_end(j0, c->extent[POOL_WINDOW], width);
    const int64_t image = index / across / down * height * width;
    const double count = (double)((i1 - i0) * (j1 - j0));
    struct acc sum = acc_zero();
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            acc_add_product(&sum, REF_F32(c, 0, image + i * width + j), 1);
    e->value = num_div(acc_num(&sum, pool_unit(c)), num_of(count));
    ref_keep_sum(&sum, e->part);
    e->part[REF_SUM_PARTS] = count;
}

/* The sum, and the reciprocal and a product in the place of a quotient. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    const struct sum_facts facts = ref_kept_sum(e->part, pool_unit(c));
    return (error_of_sum(a, c->data, &facts) + 2 * UNIT_F32 * fabs(facts.value)) / e->part[REF_SUM_PARTS];
}
