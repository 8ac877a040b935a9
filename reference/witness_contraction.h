/* The witness of a contraction: one sum, term by term; a part of witness.c. */
#include "contraction.h"

static int64_t row_of(const struct ref_context *c, int64_t index)
{
    (void)c;
    (void)index;
    return -1;
}

static int64_t same_row(const struct ref_context *c, int64_t index, uint64_t pick)
{
    (void)c;
    (void)pick;
    return index;
}

/* A column of a matrix may touch one page per term. */
static void touch(const struct ref_context *c, const int64_t shape[3], int64_t m, int64_t n, int64_t group)
{
    for (int64_t k = 0; k < shape[2]; k++) {
        (void)ref_a(c, m, k);
        for (int part = 0; part < REF_SUMS; part++)
            (void)contraction_b(c, group, part, n, k);
    }
}

static int evaluate(const struct ref_context *c, int64_t index, struct prepared *p, struct ref_element *e)
{
    int64_t shape[3], place[2];
    struct acc sum[REF_ACCOUNTS];
    (void)p;
    ref_shape(c, shape);
    contraction_place(c, shape, index, place);
    const int64_t m = place[0], n = place[1];
    const int64_t group = contraction_rows(c, shape, 1, m).group;
    FETCH(c, touch(c, shape, m, n, group));
    for (int part = 0; part < REF_ACCOUNTS; part++) {
        sum[part] = acc_zero();
        for (int64_t k = 0; part < REF_SUMS && k < shape[2]; k++)
            acc_add_product(&sum[part], ref_a(c, m, k), contraction_b(c, group, part, n, k));
    }
    ref_finish(c, m, n, sum, e);
    return 0;
}
