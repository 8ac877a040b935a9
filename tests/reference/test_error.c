/* The error model by hand: worked examples of T1 and T2, ulps by search, and the conversions that
 * decide which bits a tensor holds. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/random/pcg.h"
#include "gen/random/philox.h"
#include "problems/candidate.h"
#include "reference/error.h"

#define VALUE_FN static inline __attribute__((unused))
static inline void value_words(struct philox_key key, uint64_t block, uint32_t words[4])
{
    philox_words(key, block, 1, words);
}
#include "gen/inputs/values.h"

Suite *error_suite(void);

/* --- e4m3 --- */

/* OCP 8-bit floating point specification, E4M3: bias 7; exponent 0: 2^-6 * 0.mmm; S.1111.111 is
 * NaN; no infinities; largest 448. */
static double ocp_e4m3(int byte)
{
    const int e = byte >> 3 & 15, m = byte & 7;
    const double size = e ? pow(2, e - 7) * (1 + m / 8.0) : pow(2, -6) * (m / 8.0);
    return byte & 128 ? -size : size;
}

START_TEST(all_e4m3_bytes_have_their_published_values)
{
    for (int b = 0; b < 256; b++)
        if ((b & 127) == 127)
            ck_assert(isnan(e4m3_to_float((e4m3)b)));
        else
            ck_assert(e4m3_to_float((e4m3)b) == ocp_e4m3(b) &&
                      !signbit(e4m3_to_float((e4m3)b)) == !(b & 128));
    ck_assert(ocp_e4m3(0x7e) == 448 && ocp_e4m3(0x01) == 0x1p-9 && ocp_e4m3(0x08) == 0x1p-6);
}
END_TEST

/* The nearest of all 127 finite sizes, and the even byte at a tie; beyond the largest, the largest. */
static int nearest_e4m3(double x)
{
    int best = 0;
    for (int b = 1; b < 127; b++) {
        const double new = fabs(fabs(x) - ocp_e4m3(b)), old = fabs(fabs(x) - ocp_e4m3(best));
        if (new < old || (new == old &&b % 2 == 0))
            best = b;
    }
    return best | (signbit(x) ? 128 : 0);
}

static void expect_e4m3(float x)
{
    ck_assert_msg(e4m3_from_single(x) == nearest_e4m3(x), "%a becomes %02x, expected %02x", x,
                  e4m3_from_single(x), nearest_e4m3(x));
    ck_assert_int_eq(e4m3_from_single(-x), nearest_e4m3(-x));
}

START_TEST(e4m3_rounds_to_nearest_even_and_saturates)
{
    struct pcg *pcg = pcg_new(1, "test/e4m3");
    for (int b = 0; b < 126; b++) {
        const float middle = (float)((ocp_e4m3(b) + ocp_e4m3(b + 1)) / 2);
        expect_e4m3((float)ocp_e4m3(b));
        expect_e4m3(middle);
        expect_e4m3(nextafterf(middle, 0));
        expect_e4m3(nextafterf(middle, INFINITY));
    }
    for (int i = 0; i < 20000; i++)
        expect_e4m3(ldexpf((float)pcg_unit(pcg), (int)pcg_below(pcg, 24) - 14));
    for (float x = 440; x < 500; x += 0.5f)
        expect_e4m3(x);
    ck_assert_int_eq(e4m3_from_single(INFINITY), 0x7e);
    ck_assert_int_eq(e4m3_from_single(-3e38f), 0xfe);
    ck_assert_int_eq(e4m3_from_single(NAN) & 127, 127);
    pcg_free(pcg);
}
END_TEST

/* --- bf16 --- */

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void expect_bf16(uint32_t bits, uint32_t expected)
{
    ck_assert_msg(bf16_from_single(from_bits(bits)) == expected, "%08x becomes %04x, not %04x", bits,
                  bf16_from_single(from_bits(bits)), expected);
    ck_assert_int_eq(float_to_bf16(from_bits(bits)), (int)expected);
}

/* The bits of neighbours count up, through the binades to infinity. */
START_TEST(bf16_rounds_every_midpoint_and_its_neighbours)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        const uint32_t bits = h << 16;
        if (isnan(from_bits(bits)) || isinf(from_bits(bits)))
            continue;
        expect_bf16(bits, h);
        expect_bf16(bits | 0x7fff, h);
        expect_bf16(bits | 0x8000, h + h % 2);
        expect_bf16(bits | 0x8001, h + 1);
        ck_assert(bf16_to_float((bf16)h) == from_bits(bits));
    }
    ck_assert_int_eq(bf16_from_single(INFINITY), 0x7f80);
    ck_assert_int_eq(bf16_from_single(-INFINITY), 0xff80);
    ck_assert(isnan(bf16_to_float(bf16_from_single(from_bits(0x7f800001)))));
    ck_assert(isnan(bf16_to_float(float_to_bf16(from_bits(0xff800001)))));
}
END_TEST

/* --- ulps --- */

static double next_up(enum dtype dtype, double x)
{
    uint32_t bits;
    const float single = (float)x;
    if (dtype == DTYPE_F32)
        return nextafterf(single, INFINITY);
    memcpy(&bits, &single, sizeof bits);
    return from_bits(bits + 0x10000); /* x > 0 */
}

START_TEST(half_an_ulp_is_half_the_way_to_the_next_number)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16};
    for (int t = 0; t < 2; t++) {
        const struct format f = error_format(types[t]);
        for (int e = -126; e < 127; e++) {
            const double one = ldexp(1, e), up = next_up(types[t], one);
            const double below = one - (up - one) / 2; /* the last of the binade below */
            ck_assert(error_half_ulp(f, one) == (up - one) / 2);
            ck_assert(error_half_ulp(f, -up) == (next_up(types[t], up) - up) / 2);
            ck_assert(e == -126 || error_half_ulp(f, below) == (one - below) / 2);
            ck_assert(error_half_ulp(f, 1.75 * one) == (up - one) / 2);
        }
        ck_assert(error_half_ulp(f, 0) == error_half_ulp(f, 0x1p-126));
        ck_assert(error_half_ulp(f, 0x1p-140) == error_half_ulp(f, 0x1p-126));
    }
    ck_assert(error_half_ulp(error_format(DTYPE_F32), 0) == 0x1p-150);
    ck_assert(error_half_ulp(error_format(DTYPE_BF16), 0) == 0x1p-134);
    ck_assert(error_format(DTYPE_F32).largest == 0x1.fffffep127);
    ck_assert(error_format(DTYPE_BF16).largest == bf16_to_float(0x7f7f));
}
END_TEST

/* The nearest bf16 to a double, with no detour through single. */
static double round_bf16(double x)
{
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    bits &= 0xffff0000u;
    double best = from_bits(bits);
    for (int step = -1; step <= 1; step++) {
        const double other = from_bits(bits + (uint32_t)step * 0x10000u);
        best = fabs(other - x) < fabs(best - x) ? other : best;
    }
    return best;
}

static double near_a_power(struct pcg *pcg)
{
    const double power = ldexp(1, (int)pcg_below(pcg, 40) - 20);
    switch (pcg_below(pcg, 4)) {
    case 0: return power * (1 + ldexp(pcg_unit(pcg) - 0.5, -7));
    case 1: return power * (1 + ldexp(pcg_unit(pcg) - 0.5, -22));
    case 2: return power * (1 + 0x1p-8); /* a bf16 midpoint */
    default: return power * (1 + pcg_unit(pcg));
    }
}

START_TEST(an_exact_value_may_be_off_by_its_own_rounding_only)
{
    struct pcg *pcg = pcg_new(2, "test/rounding");
    for (int i = 0; i < 50000; i++) {
        const double x = near_a_power(pcg) * (i % 2 ? 1 : -1);
        ck_assert(error_of_rounding(error_format(DTYPE_BF16), x, 0) == fabs(round_bf16(x) - x));
        ck_assert(error_of_rounding(error_format(DTYPE_F32), x, 0) == fabs((double)(float)x - x));
    }
    ck_assert(error_of_rounding(error_format(DTYPE_BF16), 255, 0) == 0);
    ck_assert(error_of_rounding(error_format(DTYPE_BF16), 257, 0) == 1);
    pcg_free(pcg);
}
END_TEST

/* Any value within `error` of x, rounded, is allowed, and a whole ulp more is not. */
START_TEST(a_value_that_is_off_already_may_round_from_where_it_is)
{
    struct pcg *pcg = pcg_new(3, "test/rounding");
    for (int i = 0; i < 100000; i++) {
        const double x = near_a_power(pcg);
        const double error = x * ldexp(pcg_unit(pcg), -(int)pcg_below(pcg, 30));
        const double z = x + error * (i % 3 == 0 ? 1 : i % 3 == 1 ? -1 : 2 * pcg_unit(pcg) - 1);
        const struct format f32 = error_format(DTYPE_F32), bf16 = error_format(DTYPE_BF16);
        ck_assert(fabs((float)z - x) <= error + error_of_rounding(f32, x, error));
        ck_assert(fabs(round_bf16(z) - x) <= error + error_of_rounding(bf16, x, error));
        ck_assert(error_of_rounding(bf16, x, error) <= (x + error) * UNIT_BF16);
    }
    pcg_free(pcg);
}
END_TEST

/* --- T1 and T2 --- */

/* K = 4097, Hopper 16-bit MMA: k = 16, d = 21 * 2^-25; 257 steps, 257 * 21 = 5397. */
START_TEST(worked_examples_of_the_sum_bound)
{
    const struct arithmetic mma = {"mma", 21 * 0x1p-25, 16, 0, 0x1p24, 0};
    const struct arithmetic fp32 = {"fp32", 0x1p-24, 1, 0, 0x1p24, 0};
    const struct arithmetic half = {"half", 0x1p-11, 16, 0x1p-11, 0x1p11, 0};
    const struct sum_facts small = {4097, -3, 1000, 16, 0}, large = {4097, -5, 1000, 16, 0};
    ck_assert(error_of_sum(&mma, DATA_ANY, &small) == 5397000.0 / 33554432); /* T1 */
    ck_assert(error_of_sum(&mma, DATA_SIGN_RANDOM, &small) == 4 * 5397.0 / 33554432);
    ck_assert(error_of_sum(&mma, DATA_SIGN_RANDOM, &large) == 5 * 5397.0 / 33554432);
    ck_assert(error_of_sum(&fp32, DATA_ANY, &small) == 4097000.0 / 16777216);
    ck_assert(error_of_sum(&half, DATA_ANY, &small) == (257 + 2) * 1000.0 / 2048); /* operands too */
}
END_TEST

START_TEST(small_integers_leave_no_error_and_large_ones_do)
{
    const struct arithmetic fp8 = {"fp8", 34 * 0x1p-13, 32, 0, 0x1p13, 0};
    struct sum_facts s = {64, 10, 8192, 9000, 1};
    ck_assert(error_of_sum(&fp8, DATA_EXACT, &s) == 0);
    s.magnitude = 8193;
    ck_assert(error_of_sum(&fp8, DATA_EXACT, &s) == 2 * 34 * 0x1p-13 * 8193);
    s.unit = 2;
    ck_assert(error_of_sum(&fp8, DATA_EXACT, &s) == 0);
    ck_assert(error_of_sum(&fp8, DATA_ANY, &s) > 0);
}
END_TEST

/* A bit-accurate fp8 unit after MMA-Sim. 32 products and the accumulator are aligned to the largest of them.
 * Each is truncated toward zero at 13 fraction bits, they are added, and the sum is truncated to 13 bits of
 * its own. */
static double truncate13(double x, double like)
{
    const double unit = ldexp(1, ilogb(like) - 13);
    return trunc(x / unit) * unit;
}

static double simulate_fp8(const double *product, int terms)
{
    double sum = 0;
    for (int g = 0; g < terms; g += 32) {
        double largest = fabs(sum), total = 0;
        for (int i = g; i < g + 32; i++)
            largest = fmax(largest, fabs(product[i]));
        if (largest == 0)
            continue;
        for (int i = g; i < g + 32; i++)
            total += truncate13(product[i], largest);
        total += truncate13(sum, largest);
        sum = total == 0 ? 0 : truncate13(total, total);
    }
    return sum;
}

/* Honest sums of `terms` random products stay far inside T3, and zeros do not. */
static void expect_t3(struct pcg *pcg, int terms, bool wide, int *zeros_rejected, int rounds)
{
    static double product[16384];
    struct arithmetics arithmetics;
    error_arithmetics(problem_find("gemm_fp8"), 90, &arithmetics);
    for (int round = 0; round < rounds; round++) {
        struct sum_facts facts = {terms, 0, 0, 0, 0};
        for (int i = 0; i < terms; i++) {
            double p = (2 * pcg_unit(pcg) - 1) * (2 * pcg_unit(pcg) - 1) * 512;
            if (wide)
                p = ldexp(p, (int)pcg_below(pcg, 17) + (int)pcg_below(pcg, 17) - 26);
            product[i] = p;
            facts.value += p;
            facts.magnitude += fabs(p);
            facts.square += p * p;
        }
        const double allowed =
            error_of_sum(&arithmetics.item[arithmetics.admitted], DATA_SIGN_RANDOM, &facts);
        ck_assert(fabs(simulate_fp8(product, terms) - facts.value) < 0.5 * allowed);
        *zeros_rejected += fabs(facts.value) > allowed;
    }
}

START_TEST(an_honest_13_bit_accumulator_fits_and_zeros_do_not)
{
    static const int terms[] = {128, 512, 2048, 4096, 8192, 16384};
    struct pcg *pcg = pcg_new(3, "test/t3");
    for (int i = 0; i < 6; i++) {
        int rejected = 0;
        expect_t3(pcg, terms[i], false, &rejected, 60);
        expect_t3(pcg, terms[i], true, &rejected, 60);
        ck_assert_msg(rejected > 100, "%d terms: zeros rejected in %d of 120", terms[i], rejected);
    }
    pcg_free(pcg);
}
END_TEST

/* 2 sqrt(128 * 34) 2^-13 (3 + 4) at 4096 terms, sqrt(34) at 32. */
START_TEST(worked_examples_of_the_truncating_bound)
{
    const struct arithmetic fp8 = {"fp8", 34 * 0x1p-13, 32, 0, 0x1p13, 0x1p-13};
    const struct sum_facts long_sum = {4096, -3, 1000, 16, 0}, short_sum = {32, -3, 1000, 16, 0};
    ck_assert_double_eq_tol(error_of_sum(&fp8, DATA_SIGN_RANDOM, &long_sum), 14 * sqrt(128 * 34) / 8192,
                            1e-12);
    ck_assert_double_eq_tol(error_of_sum(&fp8, DATA_SIGN_RANDOM, &short_sum), 14 * sqrt(34) / 8192, 1e-15);
    ck_assert_double_eq_tol(error_of_sum(&fp8, DATA_ANY, &long_sum), 128 * 34000.0 / 8192, 1e-9);
}
END_TEST

static void expect_arithmetics(const char *problem, int capability, const char *admitted, double d)
{
    struct arithmetics arithmetics;
    error_arithmetics(problem_find(problem), capability, &arithmetics);
    ck_assert_int_ge(arithmetics.count, 4);
    ck_assert_str_eq(arithmetics.item[0].name, "fp32");
    ck_assert_str_eq(arithmetics.item[arithmetics.admitted].name, admitted);
    ck_assert(arithmetics.item[arithmetics.admitted].d == d);
}

/* p = 2^64: its square overflows a single, which must not make anything wrong. */
START_TEST(squares_that_overflow_allow_everything_rather_than_nothing)
{
    const struct arithmetic fp32 = {"fp32", 0x1p-24, 1, 0, 0x1p24, 0};
    const struct sum_facts huge = {3, 0x1p65, 0x1.8p65, INFINITY, 0};
    const struct sum_facts unknown = {3, 0x1p65, INFINITY, INFINITY, 0};
    const double error = error_of_sum(&fp32, DATA_SIGN_RANDOM, &huge);
    ck_assert(error == 3 * 0x1p-24 * 0x1.8p65);
    ck_assert(error_of_sum(&fp32, DATA_SIGN_RANDOM, &unknown) == INFINITY);
    ck_assert(error_of_rounding(error_format(DTYPE_BF16), 0x1p65, INFINITY) == INFINITY);
}
END_TEST

START_TEST(a_device_admits_the_arithmetic_of_its_matrix_units_and_no_more)
{
    expect_arithmetics("softmax", 0, "fp32", 0x1p-24);
    expect_arithmetics("softmax", 90, "fp32", 0x1p-24);
    expect_arithmetics("gemm_fp8", 0, "fp32", 0x1p-24);
    expect_arithmetics("gemm_fp8", 90, "fp8 MMA", 34 * 0x1p-13);
    expect_arithmetics("gemm_fp8", 100, "fp8 MMA", 37 * 0x1p-25);
    expect_arithmetics("paged_attention", 0, "fp32", 0x1p-24);
    expect_arithmetics("paged_attention", 80, "16-bit MMA", 11 * 0x1p-24);
    expect_arithmetics("paged_attention", 90, "16-bit MMA", 21 * 0x1p-25);
    expect_arithmetics("kda", 0, "bf16 operands", 21 * 0x1p-25);
    expect_arithmetics("kda", 90, "bf16 operands", 21 * 0x1p-25);
    static const char *const products[] = {"moe_up", "gemm_w4a16", "gemm_bf16"};
    for (int i = 0; i < 3; i++) {
        expect_arithmetics(products[i], 0, "fp32", 0x1p-24);
        expect_arithmetics(products[i], 80, "16-bit MMA", 11 * 0x1p-24);
        expect_arithmetics(products[i], 90, "16-bit MMA", 21 * 0x1p-25);
    }
    expect_arithmetics("gemm_f32", 0, "fp32", 0x1p-24);
    expect_arithmetics("gemm_f32", 90, "fp32", 0x1p-24);
}
END_TEST

START_TEST(a_discrete_result_is_exact_or_wrong)
{
    struct arithmetics arithmetics;
    error_arithmetics(problem_find("topk"), 90, &arithmetics);
    ck_assert(arithmetics.count == 1 && arithmetics.admitted == 0);
    ck_assert_str_eq(arithmetics.item[0].name, "exact");
}
END_TEST

Suite *error_suite(void)
{
    Suite *suite = suite_create("error");
    TCase *formats = tcase_create("formats"), *model = tcase_create("model");
    tcase_add_test(formats, all_e4m3_bytes_have_their_published_values);
    tcase_add_test(formats, e4m3_rounds_to_nearest_even_and_saturates);
    tcase_add_test(formats, bf16_rounds_every_midpoint_and_its_neighbours);
    tcase_add_test(formats, half_an_ulp_is_half_the_way_to_the_next_number);
    tcase_add_test(model, an_exact_value_may_be_off_by_its_own_rounding_only);
    tcase_add_test(model, a_value_that_is_off_already_may_round_from_where_it_is);
    tcase_add_test(model, worked_examples_of_the_sum_bound);
    tcase_add_test(model, worked_examples_of_the_truncating_bound);
    tcase_add_test(model, an_honest_13_bit_accumulator_fits_and_zeros_do_not);
    tcase_add_test(model, small_integers_leave_no_error_and_large_ones_do);
    tcase_add_test(model, squares_that_overflow_allow_everything_rather_than_nothing);
    tcase_add_test(model, a_device_admits_the_arithmetic_of_its_matrix_units_and_no_more);
    tcase_add_test(model, a_discrete_result_is_exact_or_wrong);
    suite_add_tcase(suite, formats);
    suite_add_tcase(suite, model);
    return suite;
}
