#include "gemm.h"

#include <math.h>

#include "product.h"

const struct axis gemm_axes[] = {{"m", AXIS_NUMBER, NULL, "rows of a and c"},
                                 {"n", AXIS_NUMBER, NULL, "columns of b and c"},
                                 {"k", AXIS_NUMBER, NULL, "length of every dot product"},
                                 {"trans_b", AXIS_NUMBER, NULL, "1: b is stored as [n, k]; 0: as [k, n]"},
                                 {"input", AXIS_CHOICE, NULL, "how a and b are drawn"},
                                 {0}};

const struct argument gemm_arguments[] = {
    {"m", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {"trans_b", ARGUMENT_I64}, {0}};

enum { A, B, C };

enum { SPOTS = 4 };

/* Plants NaN in one operand against 0 in the other, if another row or column stays defined: a term is NaN
 * even if its other factor is 0. */
static void plant_zeros(struct operand a, struct operand b, int64_t k, struct random *random)
{
    if (a.rows <= SPOTS || b.rows <= SPOTS)
        return;
    for (int i = 0; i < SPOTS; i++) {
        const int64_t depth = i < 2 ? k - 1 : (int64_t)random_below(random, (uint64_t)k);
        const int64_t row = a.rows - 1 - (int64_t)random_below(random, SPOTS);
        const int64_t col = b.rows - 1 - (int64_t)random_below(random, SPOTS);
        a.fill->planted[i] = (struct fill_planted){product_place(&a, row, depth), i % 2 ? NAN : 0};
        b.fill->planted[i] = (struct fill_planted){product_place(&b, col, depth), i % 2 ? 0 : NAN};
    }
    a.fill->planted_count = b.fill->planted_count = SPOTS;
}

struct operands {
    struct operand a, b;
    int64_t k;
    bool single; /* fp32, not bf16 */
};

static struct operands operands_of(const struct config *config, struct instance *out)
{
    const int64_t k = out->extent[2];
    return (struct operands){product_operand(&out->tensor[A].fill, out->extent[0], k, false),
                             product_operand(&out->tensor[B].fill, out->extent[1], k, out->extent[3] == 0), k,
                             config->problem->tensors[A].dtype == DTYPE_F32};
}

static int integers(const struct config *config, struct random *random, struct instance *out)
{
    const struct operands o = operands_of(config, out);
    o.single ? product_odd(o.a, o.b, o.k, false, random) : product_integers(o.a, o.b, o.k, random);
    return 0;
}

static int needles(const struct config *config, struct random *random, struct instance *out)
{
    const struct operands o = operands_of(config, out);
    o.single ? product_odd(o.a, o.b, o.k, true, random) : product_needles(o.a, o.b, o.k, random);
    return 0;
}

static int special(const struct config *config, struct random *random, struct instance *out)
{
    const struct operands o = operands_of(config, out);
    product_special(o.a, o.b, o.k, !o.single);
    plant_zeros(o.a, o.b, o.k, random);
    return 0;
}

const struct input_class gemm_classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: deviation 1",
     .fill = {[A] = {.kind = FILL_NORMAL, .b = 1}, [B] = {.kind = FILL_NORMAL, .b = 1}}},
    {"integers", DATA_EXACT,
     "whole numbers whose sums every admitted arithmetic holds: a dropped or doubled term shows",
     .discriminating = 1, .adjust = integers},
    {"needle", DATA_EXACT, "the same with large terms at the last k and at tile edges", .discriminating = 2,
     .adjust = needles},
    {"uniform", DATA_ANY, "terms of one sign: what an accumulator loses adds up",
     .fill = {[A] = {.kind = FILL_UNIFORM, .a = 0, .b = 1}, [B] = {.kind = FILL_UNIFORM, .a = 0, .b = 1}}},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-24 to 2^25: beyond fp16 on both sides",
     .fill = {[A] = {.kind = FILL_WIDE, .a = -24, .b = 24}, [B] = {.kind = FILL_WIDE, .a = -24, .b = 24}}},
    {"cancel", DATA_ANY, "pairs of terms that nearly cancel",
     .fill = {[A] = PRODUCT_CANCEL_A, [B] = PRODUCT_CANCEL_B}},
    {"special", DATA_SIGN_RANDOM,
     "NaN, in bf16 also infinities, NaN against 0: they reach their own rows and columns alone",
     .adjust = special},
    {0}};

int gemm_instantiate(const struct config *config, struct random *shape_random, struct random *content_random,
                     struct instance *out)
{
    const double size = dtype_row(config->problem->tensors[A].dtype)->bits / 8.0;
    const int64_t m = config_value(config, "m"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k"), trans_b = config_value(config, "trans_b");
    const double dm = (double)m, dn = (double)n, dk = (double)k;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {m, n, k, trans_b},
                             .tensor = {{.rank = 2, .dim = {m, k}},
                                        {.rank = 2, .dim = {trans_b ? n : k, trans_b ? k : n}},
                                        {.rank = 2, .dim = {m, n}}},
                             .flops = 2 * dm * dn * dk,
                             .bytes = size * (dm * dk + dn * dk + dm * dn)};
    return 0;
}
