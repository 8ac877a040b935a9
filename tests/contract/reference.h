/* See scaled.c. */
#include "scaled.h"

enum { PART_SIZE };

struct ref_state {
    int unused;
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[SCALED_ROWS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[SCALED_COLS];
}

REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    (void)c;
    return 0;
}

REF_FN double ref_cost(const struct ref_context *c)
{
    (void)c;
    return 5;
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    (void)c, (void)row, (void)scratch;
    state->unused = 0;
}

REF_FN void ref_elements(const struct ref_context *c, int64_t row, int64_t first, int64_t count,
                         const num *scratch, const struct ref_state *state, struct ref_element *e)
{
    const double scale = c->scalar[SCALED_SCALE], shift = c->scalar[SCALED_SHIFT];
    const double offset = (double)c->extent[SCALED_OFFSET];
    (void)scratch, (void)state;
    for (int64_t j = 0; j < count; j++) {
        const double x = REF_F32(c, SCALED_X, row * c->extent[SCALED_LDX] + first + j);
        const double weight = REF_F16(c, SCALED_WEIGHT, first + j),
                     bias = REF_E5M2(c, SCALED_BIAS, first + j);
        const num scaled =
            num_mul(num_mul(num_of(c->extent[SCALED_NEGATE] ? -x : x), num_of(scale)), num_of(weight));
        const bool shown = REF_BOOL(c, SCALED_MASK, first + j);
        const num sum = num_add(num_add(num_add(scaled, num_of(shift)), num_of(offset)), num_of(bias));
        e[j].value = shown ? sum : num_of(0);
        e[j].kept = !shown; /* means nothing for an output */
        e[j].part[PART_SIZE] = shown ? fabs(num_mid(scaled)) + fabs(shift) + fabs(offset) + fabs(bias) : 0;
    }
}

/* Two roundings of the product, one of the shift and three of the sum, each of at most the sum of
 * magnitudes. */
REF_FN double ref_error(const struct ref_context *c, const struct arithmetic *a, const struct ref_element *e)
{
    (void)c;
    return 6.5 * (a->d + a->operand) * e->part[PART_SIZE];
}
