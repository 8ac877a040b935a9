/* Programs that round where they may are accepted in every class, and those that round elsewhere are
 * rejected. The report names their rounding. All in single precision, as kernels are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/candidate.h"
#include "oracle.h"

TCase *judge_rounded_case(void);

static struct judge_report report;

static float to_bf16(float x)
{
    return bf16_to_float(float_to_bf16(x));
}

/* 10 fraction bits, to nearest: TF32. */
static float to_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float as_it_is(float x)
{
    return x;
}

/* --- plain products --- */

static void product(struct oracle *o, float (*operand)(float), float (*sum_of)(float))
{
    const int64_t m = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    const bool across = o->instance.extent[3] == 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) {
                const float a = (float)oracle_number(o, 0, i * k + l);
                const float b = (float)oracle_number(o, 1, across ? l * n + j : j * k + l);
                sum = sum_of(sum + operand(a) * operand(b));
            }
            oracle_put(o, i * n + j, sum);
        }
}

/* --- weights of four bits --- */

/* Weights rounded to bf16, or scale and zero point applied to the sums of a group. */
static void quantized(struct oracle *o, bool folded)
{
    const int64_t m = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    const int64_t group = o->instance.extent[3];
    for (int64_t at = 0; at < m * n; at++) {
        float total = 0, weighted = 0, plain = 0;
        for (int64_t l = 0; l < k; l++) {
            const int64_t g = l / group * n + at % n;
            const float x = (float)oracle_bf16(o, 0, at / n * k + l);
            const float q = (float)oracle_nibble(o, 1, l, at % n, n);
            const float scale = (float)oracle_bf16(o, 2, g), zero = (float)oracle_bf16(o, 3, g);
            if (!folded)
                total += x * to_bf16((q - zero) * scale);
            weighted += x * q;
            plain += x;
            if (folded && (l + 1 == k || (l + 1) % group == 0)) {
                total += scale * (weighted - zero * plain);
                weighted = plain = 0;
            }
        }
        oracle_put(o, at, total);
    }
}

/* --- gate and up --- */

static float silu(float g)
{
    return g / (1 + expf(-g));
}

static void gated(struct oracle *o, float (*round)(float))
{
    const int64_t dim = o->instance.extent[1], inter = o->instance.extent[2];
    for (int64_t e = 0; e < o->instance.extent[3]; e++)
        for (int64_t at = oracle_i32(o, 1, e) * inter; at < oracle_i32(o, 1, e + 1) * inter; at++) {
            float gate = 0, up = 0;
            for (int64_t h = 0; h < dim; h++) {
                const float x = (float)oracle_bf16(o, 0, at / inter * dim + h);
                gate += x * (float)oracle_bf16(o, 2, (e * dim + h) * inter + at % inter);
                up += x * (float)oracle_bf16(o, 3, (e * dim + h) * inter + at % inter);
            }
            oracle_put(o, at, silu(round(gate)) * round(up));
        }
}

/* --- verdicts --- */

static void expect_accepted(struct oracle *o, const char *program)
{
    char line[256];
    config_format(&o->config, line, sizeof line);
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == 0, "%s, %s: %lld wrong, worst %lld: %.9g, expected %.9g +- %.3g", program,
                  line, (long long)report.wrong, (long long)report.worst.index, report.worst.got,
                  report.worst.mid, report.worst.allowed);
    ck_assert_int_eq(report.fits, 0); /* fp32, whatever was rounded by permission */
}

START_TEST(products_in_fp32_are_accepted_in_every_class)
{
    static const struct oracle_case cases[] = {{"gemm_bf16", "m=7 n=9 k=700 trans_b=0"},
                                               {"gemm_f32", "m=7 n=9 k=700 trans_b=1"}};
    for (int c = 0; c < 2; c++)
        for (const char *const *input = oracle_inputs(cases[c].problem); *input; input++) {
            struct oracle o;
            char line[256];
            oracle_line(line, sizeof line, cases[c].line, *input, 2);
            oracle_open(&o, cases[c].problem, line, 0, 0);
            product(&o, as_it_is, as_it_is);
            expect_accepted(&o, "a serial sum");
            oracle_close(&o);
        }
}
END_TEST

static void expect_quantized(const char *shape, const char *zero, const char *input, bool folded)
{
    struct oracle o;
    char line[256], chosen[96];
    snprintf(chosen, sizeof chosen, "%s zero=%s", shape, zero);
    oracle_line(line, sizeof line, chosen, input, 3);
    oracle_open(&o, "gemm_w4a16", line, 0, 0);
    quantized(&o, folded);
    expect_accepted(&o, folded ? "zero points after the sum" : "rounded weights");
    oracle_close(&o);
}

/* In the short sums of zero=equal all weights may be 0: only the sizes of the terms allow an error there. */
START_TEST(weights_may_be_rounded_and_zero_points_come_after_the_sum)
{
    static const char *const zeros[] = {"drawn", "spread", "low", "high", "equal"};
    for (int zero = 0; zero < 5; zero++)
        for (const char *const *input = oracle_inputs("gemm_w4a16"); *input; input++)
            for (int folded = 0; folded < 2; folded++) {
                expect_quantized("m=4 n=9 k=450 group=96", zeros[zero], *input, folded);
                expect_quantized("m=9 n=40 k=12 group=32", zeros[zero], *input, folded);
            }
}
END_TEST

START_TEST(gate_and_up_may_be_rounded)
{
    static const char *const routings[] = {"even", "zipf", "empty", "one", "single", "odd"};
    int turn = 0;
    for (const char *const *input = oracle_inputs("moe_up"); *input; input++, turn++)
        for (int rounded = 0; rounded < 2; rounded++) {
            struct oracle o;
            char line[256], shape[96];
            snprintf(shape, sizeof shape, "tokens=40 hidden_dim=300 inter_dim=20 experts=4 routing=%s",
                     routings[turn % 6]);
            oracle_line(line, sizeof line, shape, *input, 4);
            oracle_open(&o, "moe_up", line, 0, 0);
            gated(&o, rounded ? to_bf16 : as_it_is);
            expect_accepted(&o, rounded ? "gate and up in bf16" : "gate and up in fp32");
            oracle_close(&o);
        }
}
END_TEST

static void expect_named(const char *problem, float (*operand)(float), float (*sum_of)(float),
                         const char *name)
{
    struct oracle o;
    oracle_open(&o, problem, "m=9 n=20 k=600 trans_b=0 input=normal seed=5", 0, 0);
    product(&o, operand, sum_of);
    oracle_judge(&o, &report);
    ck_assert_msg(report.wrong > 0, "%s passes as fp32", name);
    ck_assert(!oracle_witness(&o, &report.worst).ok);
    ck_assert_msg(report.fits < o.request.arithmetics.count &&
                      strcmp(o.request.arithmetics.item[report.fits].name, name) == 0,
                  "%s is called %s", name,
                  report.fits < o.request.arithmetics.count ? o.request.arithmetics.item[report.fits].name
                                                            : "wrong");
    oracle_close(&o);
}

START_TEST(a_silent_downgrade_is_rejected_and_named)
{
    expect_named("gemm_f32", to_tf32, as_it_is, "tf32");
    expect_named("gemm_bf16", as_it_is, to_bf16, "bf16");
}
END_TEST

/* --- rows of softmax that are off as a whole --- */

/* Elements [from, end) of every row in steps, times 1 + `off`; how many are wrong then. */
static int64_t softmax_off(const char *line, double off, int64_t from, int64_t end, int64_t step)
{
    struct oracle o;
    oracle_open(&o, "softmax", line, 0, 0);
    oracle_honest(&o);
    for (int64_t row = 0; row < o.elements; row += o.width)
        for (int64_t j = from; j < end && j < o.width; j += step)
            oracle_put(&o, row + j, oracle_get(&o, row + j) * (1 + off));
    oracle_judge(&o, &report);
    ck_assert(oracle_witness(&o, &report.worst).ok == (report.wrong == 0));
    for (int64_t i = 0; i < report.open && i < JUDGE_OPEN; i++)
        ck_assert(oracle_witness(&o, &report.opens[i]).inside);
    const int64_t wrong = report.wrong;
    oracle_close(&o);
    return wrong;
}

START_TEST(a_denominator_has_its_room_once_and_for_the_whole_row)
{
    static const char *const lines[] = {
        "rows=3 cols=600 input=normal seed=5", "rows=2 cols=5000 input=ties seed=6",
        "rows=2 cols=4097 input=digits seed=7", "rows=2 cols=800 input=equal seed=8"};
    for (int side = -1; side <= 1; side += 2)
        for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
            ck_assert_int_eq(softmax_off(lines[l], side * 0.99 * 0x1p-12, 0, INT64_MAX, 1), 0);
            ck_assert_int_gt(softmax_off(lines[l], side * 1.5 * 0x1p-12, 0, INT64_MAX, 1), 600);
            ck_assert_int_gt(softmax_off(lines[l], side * 0x1p-13, 0, INT64_MAX, 2), 0);
            ck_assert_int_gt(softmax_off(lines[l], side * 0x1p-13, 0, 300, 1), 0);
        }
    ck_assert_int_gt(softmax_off("rows=3 cols=100 input=normal seed=5", 0x1p-12, 0, INT64_MAX, 1), 0);
}
END_TEST

/* Whether or not it is among the results from which the row's factor is estimated. */
START_TEST(one_result_of_a_row_that_is_off_is_the_only_wrong_one)
{
    for (int64_t j = 0; j < 600; j++)
        ck_assert_int_eq(softmax_off("rows=1 cols=600 input=ties seed=5", 0x1p-13, j, j + 1, 1), 1);
}
END_TEST

static float two_parts(float x)
{
    return to_bf16(x) + to_bf16(x - to_bf16(x));
}

/* However long the sum, and where the allowed error of other classes exceeds the loss. */
START_TEST(long_sums_of_exact_data_show_operands_that_lost_bits)
{
    static const char *const inputs[] = {"integers", "needle"};
    for (int i = 0; i < 4; i++) {
        struct oracle o;
        char line[256];
        oracle_line(line, sizeof line, "m=2 n=3 k=16384 trans_b=1", inputs[i % 2], 6);
        oracle_open(&o, "gemm_f32", line, 0, 0);
        product(&o, i < 2 ? to_tf32 : two_parts, as_it_is);
        oracle_judge(&o, &report);
        ck_assert_msg(report.wrong >= 4, "%s: %lld wrong", line, (long long)report.wrong);
        product(&o, as_it_is, as_it_is);
        expect_accepted(&o, "a serial sum");
        oracle_close(&o);
    }
}
END_TEST

/* Every p is 2^64, the squares' sum beyond a single's range. */
START_TEST(squares_beyond_a_single_make_nothing_wrong)
{
    struct oracle o;
    oracle_open(&o, "gemm_bf16", "m=2 n=3 k=5 trans_b=1 input=normal seed=1", 0, 0);
    for (int t = 0; t < 2; t++)
        for (int64_t i = 0; i < o.bytes[t] / 2; i++)
            ((bf16 *)o.tensor[t])[i] = float_to_bf16(0x1p32f);
    product(&o, as_it_is, as_it_is);
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.wrong, 0);
    oracle_put(&o, 3, 0x1p66);
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.wrong, 1);
    oracle_close(&o);
}
END_TEST

TCase *judge_rounded_case(void)
{
    TCase *rounded = tcase_create("rounded");
    tcase_add_test(rounded, products_in_fp32_are_accepted_in_every_class);
    tcase_add_test(rounded, weights_may_be_rounded_and_zero_points_come_after_the_sum);
    tcase_add_test(rounded, gate_and_up_may_be_rounded);
    tcase_add_test(rounded, a_silent_downgrade_is_rejected_and_named);
    tcase_add_test(rounded, a_denominator_has_its_room_once_and_for_the_whole_row);
    tcase_add_test(rounded, one_result_of_a_row_that_is_off_is_the_only_wrong_one);
    tcase_add_test(rounded, long_sums_of_exact_data_show_operands_that_lost_bits);
    tcase_add_test(rounded, squares_beyond_a_single_make_nothing_wrong);
    tcase_set_timeout(rounded, 60);
    return rounded;
}
