#include "exact.h"

#include <math.h>
#include <string.h>

/* An e4m3 byte is an integer multiple of 2^-9: OCP FP8, bias 7, three fraction bits. */
static bool e4m3_integer(uint8_t byte, int64_t *out)
{
    const int exponent = byte / 8 % 16;
    const int64_t fraction = byte % 8;
    const int64_t size = exponent == 0 ? fraction : (8 + fraction) * ((int64_t)1 << (exponent - 1));
    *out = byte < 128 ? size : -size;
    return byte % 128 != 127;
}

/* All in integers: sum_k X W, where X and W are in units of 2^-9; the scale is a rational. */
void exact_gemm_fp8(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2];
    const uint8_t *x = (const uint8_t *)o->tensor[0] + index / n * k;
    const uint8_t *w = (const uint8_t *)o->tensor[1] + index % n * k;
    mpz_t sum;
    mpq_t value, scale;
    bool defined = true;
    mpz_init(sum);
    mpq_inits(value, scale, NULL);
    for (int64_t l = 0; l < k; l++) {
        int64_t a = 0, b = 0;
        defined &= e4m3_integer(x[l], &a) && e4m3_integer(w[l], &b);
        const long product = (long)(a * b);
        if (product < 0)
            mpz_sub_ui(sum, sum, (unsigned long)-product);
        else
            mpz_add_ui(sum, sum, (unsigned long)product);
    }
    mpq_set_z(value, sum);
    mpq_div_2exp(value, value, 18);
    mpq_set_d(scale, oracle_f32(o, 2, index % n));
    mpq_mul(value, value, scale);
    mpfr_set_q(out, value, MPFR_RNDN);
    *reach = fabs(mpfr_get_d(out, MPFR_RNDN));
    if (!defined)
        mpfr_set_nan(out);
    mpz_clear(sum);
    mpq_clears(value, scale, NULL);
}

/* y = 1 / sum_j exp(x_j - x): no maximum anywhere, MPFR's exponents are wide enough. */
void exact_softmax(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t cols = o->instance.extent[1], row = index / cols * cols;
    const double x = oracle_f32(o, 0, index);
    bool defined = false, poisoned = false;
    mpfr_t term;
    mpfr_init2(term, EXACT_BITS);
    mpfr_set_zero(out, 1);
    for (int64_t j = row; j < row + cols; j++) {
        const double other = oracle_f32(o, 0, j);
        poisoned |= isnan(other) || other == INFINITY;
        defined |= isfinite(other);
        if (!isfinite(other) || !isfinite(x))
            continue;
        mpfr_set_d(term, other, MPFR_RNDN);
        mpfr_sub_d(term, term, x, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    if (poisoned || !defined)
        mpfr_set_nan(out);
    else if (x != -INFINITY)
        mpfr_ui_div(out, 1, out, MPFR_RNDN);
    *reach = fabs(mpfr_get_d(out, MPFR_RNDN));
    mpfr_clear(term);
}

static void exact_score(const struct oracle *o, int64_t query, int64_t key, mpfr_t out)
{
    const int64_t dim = o->instance.extent[3];
    mpfr_t term;
    mpfr_init2(term, EXACT_BITS);
    mpfr_set_zero(out, 1);
    for (int64_t d = 0; d < dim; d++) {
        mpfr_set_d(term, oracle_bf16(o, 0, query + d), MPFR_RNDN);
        mpfr_mul_d(term, term, oracle_bf16(o, 1, key + d), MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    mpfr_sqrt_ui(term, (unsigned long)dim, MPFR_RNDN);
    mpfr_div(out, out, term, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_clear(term);
}

/* out[b,h,d] = sum_t exp(s_t) v_t / sum_t exp(s_t), unshifted. */
void exact_attention(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t heads = o->instance.extent[1], dim = o->instance.extent[3];
    const int64_t b = index / dim / heads, h = index / dim % heads, d = index % dim;
    mpfr_t weight, total;
    mpfr_inits2(EXACT_BITS, weight, total, (mpfr_ptr)0);
    mpfr_set_zero(total, 1);
    mpfr_set_zero(out, 1);
    *reach = 0;
    for (int64_t t = 0; t < oracle_i32(o, 3, b); t++) {
        const int64_t key = oracle_key(o, b, h, t);
        const double v = oracle_bf16(o, 1, key + dim + d);
        exact_score(o, index / dim * dim, key, weight);
        mpfr_add(total, total, weight, MPFR_RNDN);
        mpfr_mul_d(weight, weight, v, MPFR_RNDN);
        mpfr_add(out, out, weight, MPFR_RNDN);
        *reach = fmax(*reach, fabs(v));
    }
    mpfr_div(out, out, total, MPFR_RNDN);
    mpfr_clears(weight, total, (mpfr_ptr)0);
}

static const struct {
    const char *problem;
    exact_element *evaluate;
} evaluations[] = {
    {"softmax", exact_softmax},       {"gemm_fp8", exact_gemm_fp8}, {"paged_attention", exact_attention},
    {"gemm_w4a16", exact_gemm_w4a16}, {"moe_up", exact_moe_up},     {"gemm_bf16", exact_gemm},
    {"gemm_f32", exact_gemm},
};

void exact_value(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    for (size_t i = 0; i < sizeof evaluations / sizeof *evaluations; i++)
        if (strcmp(evaluations[i].problem, o->reference->problem->name) == 0) {
            evaluations[i].evaluate(o, index, out, reach);
            return;
        }
    ck_abort_msg("no second evaluation of %s", o->reference->problem->name);
}
