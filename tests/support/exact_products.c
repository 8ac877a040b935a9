/* Matrix products in integers. Every fp32 or bf16 number is a multiple of the least subnormal of its format.
 * Products and sums of them are therefore integers in units of a power of two. */
#include "exact.h"

#include <math.h>
#include <string.h>

/* The state of a sum that is no number: infinities of one sign, or anything else. */
struct sum {
    mpz_t total, product, x, y;
    bool up, down, undefined;
};

static void sum_open(struct sum *s)
{
    mpz_inits(s->total, s->product, s->x, s->y, NULL);
    s->up = s->down = s->undefined = false;
}

static void sum_close(struct sum *s)
{
    mpz_clears(s->total, s->product, s->x, s->y, NULL);
}

/* The parts of a number: +-fraction * 2^shift least subnormals, or not finite. From IEEE 754's binary32, of
 * which bf16 is the upper half. */
struct decoded {
    bool negative, infinite, nan;
    uint32_t fraction;
    int shift;
};

static struct decoded decode(uint32_t bits, int fraction_bits)
{
    const uint32_t exponent = bits >> fraction_bits & 255, fraction = bits & ((1u << fraction_bits) - 1);
    return (struct decoded){.negative = bits >> (fraction_bits + 8) & 1,
                            .infinite = exponent == 255 && fraction == 0,
                            .nan = exponent == 255 && fraction != 0,
                            .fraction = exponent ? fraction + (1u << fraction_bits) : fraction,
                            .shift = exponent ? (int)exponent - 1 : 0};
}

static bool is_single(const struct oracle *o, int tensor)
{
    return o->config.problem->tensors[tensor].dtype == DTYPE_F32;
}

static struct decoded element(const struct oracle *o, int tensor, int64_t i)
{
    return is_single(o, tensor) ? decode(((const uint32_t *)o->tensor[tensor])[i], 23)
                                : decode(((const uint16_t *)o->tensor[tensor])[i], 7);
}

/* The unit of a tensor's elements is 2^-unit. */
static int unit_of(const struct oracle *o, int tensor)
{
    return is_single(o, tensor) ? 149 : 133;
}

static void set_integer(mpz_t out, struct decoded d)
{
    mpz_set_ui(out, d.fraction);
    mpz_mul_2exp(out, out, (mp_bitcnt_t)d.shift);
    if (d.negative)
        mpz_neg(out, out);
}

static void sum_product(struct sum *s, struct decoded a, struct decoded b)
{
    const bool infinite = a.infinite || b.infinite;
    const bool zero = (!a.infinite && a.fraction == 0) || (!b.infinite && b.fraction == 0);
    if (a.nan || b.nan || (infinite && zero)) {
        s->undefined = true;
    } else if (infinite) {
        *(a.negative == b.negative ? &s->up : &s->down) = true;
    } else {
        set_integer(s->x, a);
        set_integer(s->y, b);
        mpz_addmul(s->total, s->x, s->y);
    }
}

/* total * 2^-unit, which the precision must hold without rounding. */
static void scaled(mpfr_t out, const mpz_t total, int unit)
{
    ck_assert_int_eq(mpfr_set_z(out, total, MPFR_RNDN), 0);
    mpfr_div_2ui(out, out, (unsigned long)unit, MPFR_RNDN);
}

static void sum_value(const struct sum *s, int unit, mpfr_t out)
{
    if (s->undefined || (s->up && s->down))
        mpfr_set_nan(out);
    else if (s->up || s->down)
        mpfr_set_inf(out, s->up ? 1 : -1);
    else
        scaled(out, s->total, unit);
}

void exact_gemm(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2], row = index / n, col = index % n;
    struct sum s;
    sum_open(&s);
    for (int64_t l = 0; l < k; l++) {
        const int64_t at = o->instance.extent[3] ? col * k + l : l * n + col;
        sum_product(&s, element(o, 0, row * k + l), element(o, 1, at));
    }
    sum_value(&s, unit_of(o, 0) + unit_of(o, 1), out);
    *reach = fabs(mpfr_get_d(out, MPFR_RNDN));
    sum_close(&s);
}

/* Scale and zero point after the sums: sum over groups of scale (sum x q - zero sum x), in units of
 * 2^-133 cubed; q has none. */
void exact_gemm_w4a16(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2], group = o->instance.extent[3];
    const int64_t row = index / n, col = index % n;
    mpz_t total, weighted, plain, x;
    mpz_inits(total, weighted, plain, x, NULL);
    for (int64_t first = 0; first < k; first += group) {
        const int64_t g = first / group * n + col;
        mpz_set_ui(weighted, 0);
        mpz_set_ui(plain, 0);
        for (int64_t l = first; l < k && l < first + group; l++) {
            set_integer(x, element(o, 0, row * k + l));
            mpz_addmul_ui(weighted, x, (unsigned long)oracle_nibble(o, 1, l, col, n));
            mpz_add(plain, plain, x);
        }
        mpz_mul_2exp(weighted, weighted, 133);
        set_integer(x, element(o, 3, g));
        mpz_submul(weighted, plain, x);
        set_integer(x, element(o, 2, g));
        mpz_addmul(total, weighted, x);
    }
    scaled(out, total, 3 * 133);
    *reach = fabs(mpfr_get_d(out, MPFR_RNDN));
    mpz_clears(total, weighted, plain, x, NULL);
}

/* The row's expert is the number of experts whose rows all come before it. */
static int64_t expert_of(const struct oracle *o, int64_t row)
{
    int64_t before = 0;
    for (int64_t e = 1; e <= o->instance.extent[3]; e++)
        before += oracle_i32(o, 1, e) <= row;
    return before;
}

static void expert_sum(const struct oracle *o, int weight, int64_t row, int64_t col, mpfr_t out)
{
    const int64_t dim = o->instance.extent[1], inter = o->instance.extent[2];
    const int64_t base = expert_of(o, row) * dim * inter + col;
    struct sum s;
    sum_open(&s);
    for (int64_t h = 0; h < dim; h++)
        sum_product(&s, element(o, 0, row * dim + h), element(o, weight, base + h * inter));
    sum_value(&s, unit_of(o, 0) + unit_of(o, weight), out);
    sum_close(&s);
}

/* u g / (1 + exp(-g)) as it stands: no exponent is out of MPFR's range. */
void exact_moe_up(const struct oracle *o, int64_t index, mpfr_t out, double *reach)
{
    const int64_t inter = o->instance.extent[2];
    mpfr_t gate, below;
    mpfr_inits2(EXACT_BITS, gate, below, (mpfr_ptr)0);
    expert_sum(o, 2, index / inter, index % inter, gate);
    expert_sum(o, 3, index / inter, index % inter, out);
    mpfr_neg(below, gate, MPFR_RNDN);
    mpfr_exp(below, below, MPFR_RNDN);
    mpfr_add_ui(below, below, 1, MPFR_RNDN);
    mpfr_mul(out, out, gate, MPFR_RNDN);
    mpfr_div(out, out, below, MPFR_RNDN);
    *reach = fabs(mpfr_get_d(out, MPFR_RNDN));
    mpfr_clears(gate, below, (mpfr_ptr)0);
}
