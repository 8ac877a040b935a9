#include "gemm.h"

#include <math.h>

#include "product.h"

static const char *const inputs[] = {"normal", "integers", "needle",  "uniform",
                                     "wide",   "cancel",   "special", NULL};

const struct axis gemm_axes[] = {{"m", AXIS_NUMBER, NULL, "rows of a and c"},
                                 {"n", AXIS_NUMBER, NULL, "columns of b and c"},
                                 {"k", AXIS_NUMBER, NULL, "length of every dot product"},
                                 {"trans_b", AXIS_NUMBER, NULL, "1: b is stored as [n, k]; 0: as [k, n]"},
                                 {"input", AXIS_CHOICE, inputs, "how a and b are drawn"},
                                 {0}};

const struct argument gemm_arguments[] = {
    {"m", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {"trans_b", ARGUMENT_I64}, {0}};

enum { A, B, C };

enum { SPOTS = 4 };

/* NaN in one operand against 0 in the other, where a row or column to spare stays defined: a term is NaN even
 * if a factor is 0. */
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

static void fill_class(const struct config *config, struct instance *out, bool single, struct random *random)
{
    const int64_t k = out->extent[2];
    struct fill *fill_a = &out->tensor[A].fill, *fill_b = &out->tensor[B].fill;
    const struct operand a = product_operand(fill_a, out->extent[0], k, false);
    const struct operand b = product_operand(fill_b, out->extent[1], k, out->extent[3] == 0);

    *fill_a = *fill_b = (struct fill){.kind = FILL_NORMAL, .b = 1};
    if (config_chose(config, "input", "integers")) {
        single ? product_odd(a, b, k, false, random) : product_integers(a, b, k, random);
        out->data = DATA_EXACT;
    } else if (config_chose(config, "input", "needle")) {
        single ? product_odd(a, b, k, true, random) : product_needles(a, b, k, random);
        out->data = DATA_EXACT;
    } else if (config_chose(config, "input", "uniform")) {
        *fill_a = *fill_b = (struct fill){.kind = FILL_UNIFORM, .a = 0, .b = 1};
        out->data = DATA_ANY;
    } else if (config_chose(config, "input", "wide")) {
        *fill_a = *fill_b = (struct fill){.kind = FILL_WIDE, .a = -24, .b = 24};
    } else if (config_chose(config, "input", "cancel")) {
        product_cancel(a, b, k);
        out->data = DATA_ANY;
    } else if (config_chose(config, "input", "special")) {
        product_special(a, b, k, !single);
        plant_zeros(a, b, k, random);
    }
}

int gemm_instantiate(const struct config *config, struct random *random, enum dtype dtype,
                     struct instance *out)
{
    const int64_t m = config_value(config, "m"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k"), trans_b = config_value(config, "trans_b");
    const double dm = (double)m, dn = (double)n, dk = (double)k, size = (double)dtype_size(dtype);

    *out = (struct instance){.extent = {m, n, k, trans_b},
                             .tensor = {{.rank = 2, .dim = {m, k}},
                                        {.rank = 2, .dim = {trans_b ? n : k, trans_b ? k : n}},
                                        {.rank = 2, .dim = {m, n}}},
                             .data = DATA_SIGN_RANDOM,
                             .flops = 2 * dm * dn * dk,
                             .bytes = size * (dm * dk + dn * dk + dm * dn)};
    fill_class(config, out, dtype == DTYPE_F32, random);
    return 0;
}
