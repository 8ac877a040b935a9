/* Shared by both references of extremes: a row is an element, and all lanes go through it. */

enum { EXTREMES_ROWS, EXTREMES_COLS };

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[EXTREMES_ROWS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    (void)c;
    return 1;
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return (double)c->extent[EXTREMES_COLS];
}
