/* The judge: an honest output passes in every class, and each single fault is seen wherever it happens. Other
 * parts of the report: test_judge_report.c. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "stored.h"

Suite *judge_suite(void);
TCase *judge_report_case(void);
TCase *judge_rounded_case(void);
TCase *topk_case(void);

static const struct oracle_case cases[] = {
    {"softmax", "rows=9 cols=37"},
    {"softmax", "rows=2 cols=1030"},
    {"softmax", "rows=11 cols=1"},
    {"gemm_fp8", "m=5 n=19 k=65"},
    {"gemm_fp8", "m=66 n=130 k=7"}, /* beyond one chunk of the host's judge both ways */
    {"gemm_fp8", "m=3 n=2 k=900"},
    {"paged_attention", "batch=3 heads=4 kv_heads=2 head_dim=64 page_size=8 max_len=21 "
                        "lengths=ragged table=shared past=nan"},
    {"paged_attention", "batch=2 heads=2 kv_heads=2 head_dim=80 page_size=17 max_len=51 "
                        "lengths=one table=shuffled past=invalid"},
    {"kda", "batch=1 t=9 heads=2 dk=64 dv=64 decay=published beta=mixed"},
    {"kda", "batch=2 t=67 heads=1 dk=6 dv=3 decay=long beta=sigmoid"},
    {"kda", "batch=1 t=70 heads=3 dk=5 dv=2 decay=mixed beta=one"},
    {"kda", "batch=2 t=66 heads=1 dk=8 dv=3 decay=growth beta=zero"}, /* all zero, rightly */
    {"gemm_bf16", "m=5 n=19 k=65 trans_b=0"},
    {"gemm_bf16", "m=66 n=130 k=7 trans_b=1"},
    {"gemm_f32", "m=5 n=19 k=65 trans_b=1"},
    {"gemm_f32", "m=66 n=130 k=7 trans_b=0"},
    {"gemm_w4a16", "m=3 n=17 k=98 group=32 zero=drawn"},
    {"gemm_w4a16", "m=66 n=130 k=14 group=96 zero=spread"},
    {"gemm_w4a16", "m=2 n=5 k=258 group=128 zero=equal"},
    {"moe_up", "tokens=7 hidden_dim=33 inter_dim=19 experts=12 routing=single"},
    {"moe_up", "tokens=67 hidden_dim=9 inter_dim=66 experts=3 routing=odd"},
    {"moe_up", "tokens=66 hidden_dim=20 inter_dim=5 experts=6 routing=empty"},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct judge_report report;

static void open_honest(struct oracle *o, const struct oracle_case *c, const char *input)
{
    char line[256];
    oracle_line(line, sizeof line, c->line, input, 17);
    oracle_open(o, c->problem, line, 0, 0);
    oracle_honest(o);
}

static void expect_pass(struct oracle *o, const char *what)
{
    char line[256];
    config_format(&o->config, line, sizeof line);
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == 0 && report.unwritten == 0,
                  "%s of %s %s: %lld wrong, worst "
                  "%lld: %.9g, expected %.9g +- %.3g",
                  what, o->reference->problem->name, line, (long long)report.wrong,
                  (long long)report.worst.index, report.worst.got, report.worst.mid, report.worst.allowed);
    ck_assert_int_eq(report.first_wrong, -1);
    ck_assert_int_eq(report.last_wrong, -1);
    for (int64_t i = 0; i < report.open && i < JUDGE_OPEN; i++)
        ck_assert(oracle_witness(o, &report.opens[i]).ok);
}

/* Element `index` alone is wrong, it is the worst, and MPFR agrees. */
static void expect_caught(struct oracle *o, int64_t index, const char *what)
{
    char line[256];
    config_format(&o->config, line, sizeof line);
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == 1 && report.first_wrong == index && report.last_wrong == index,
                  "%s at %lld of %s %s: %lld wrong, from %lld to %lld", what, (long long)index,
                  o->reference->problem->name, line, (long long)report.wrong, (long long)report.first_wrong,
                  (long long)report.last_wrong);
    ck_assert_msg(report.worst.index == index && report.worst_ratio > 1, "%s at %lld: worst %lld, %g", what,
                  (long long)index, (long long)report.worst.index, report.worst_ratio);
    ck_assert(!oracle_witness(o, &report.worst).ok);
}

START_TEST(an_honest_output_passes_in_every_class)
{
    for (const char *const *input = oracle_inputs(cases[_i].problem); *input; input++) {
        struct oracle o;
        open_honest(&o, &cases[_i], *input);
        expect_pass(&o, "an honest output");
        ck_assert_int_eq(report.fits, 0);
        ck_assert(report.worst_ratio <= 1 && report.worst.index >= 0);
        oracle_close(&o);
    }
}
END_TEST

/* --- one element --- */

static void put_caught(struct oracle *o, int64_t index, double value, const char *what)
{
    const uint32_t before = oracle_bits(o, index);
    oracle_put(o, index, value);
    expect_caught(o, index, what);
    oracle_put_bits(o, index, before);
}

static void poison_caught(struct oracle *o, int64_t index)
{
    const uint32_t before = oracle_bits(o, index);
    oracle_put_bits(o, index, o->request.poison);
    expect_caught(o, index, "an unwritten element");
    ck_assert_int_eq(report.unwritten, 1);
    oracle_put_bits(o, index, before);
}

/* The neighbour of a number of the output's type. */
static double neighbour(const struct oracle *o, double x, bool up)
{
    const float single = (float)x, least = o->dtype == DTYPE_F32 ? 0x1p-149f : 0x1p-133f;
    uint32_t bits;
    if (x == 0)
        return up ? least : -least;
    memcpy(&bits, &single, sizeof bits);
    bits += ((x > 0) == up ? 1u : -1u) << (o->dtype == DTYPE_F32 ? 0 : 16);
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* The last number that is allowed, and the first that is rejected. */
static void walk_the_edge(struct oracle *o, const struct judged *e, bool up)
{
    const uint32_t before = oracle_bits(o, e->index);
    oracle_put(o, e->index, up ? e->mid + e->allowed : e->mid - e->allowed);
    double x = oracle_get(o, e->index);
    while (fabs(x - e->mid) <= e->allowed + e->rad)
        x = neighbour(o, x, up);
    while (fabs(neighbour(o, x, !up) - e->mid) > e->allowed + e->rad)
        x = neighbour(o, x, !up);
    oracle_put(o, e->index, x);
    expect_caught(o, e->index, "one ulp too far");
    oracle_put(o, e->index, neighbour(o, x, !up));
    expect_pass(o, "the last number allowed");
    oracle_put_bits(o, e->index, before);
}

static void break_number(struct oracle *o, int64_t index, const struct judged *e)
{
    walk_the_edge(o, e, true);
    walk_the_edge(o, e, false);
    put_caught(o, index, NAN, "NaN");
    put_caught(o, index, INFINITY, "infinity");
    put_caught(o, index, -INFINITY, "-infinity");
    if (fabs(e->mid) > e->allowed) {
        put_caught(o, index, 0, "zero");
        put_caught(o, index, -e->mid, "the sign flipped");
        put_caught(o, index, 2 * e->mid, "doubled");
    }
}

static void break_infinity(struct oracle *o, int64_t index, double want)
{
    put_caught(o, index, -want, "the other infinity");
    put_caught(o, index, want > 0 ? 0x1.fep127 : -0x1.fep127, "a large number for infinity");
    put_caught(o, index, 0, "zero for infinity");
    put_caught(o, index, NAN, "NaN for infinity");
}

static void break_nan(struct oracle *o, int64_t index)
{
    const uint32_t before = oracle_bits(o, index);
    put_caught(o, index, 0, "zero for NaN");
    put_caught(o, index, 1.5, "a number for NaN");
    put_caught(o, index, -INFINITY, "-infinity for NaN");
    oracle_put_bits(o, index, o->dtype == DTYPE_F32 ? 0xffc01234u : 0xffc1u);
    expect_pass(o, "another NaN");
    oracle_put_bits(o, index, before);
}

/* Corners, ends of rows, the edges of tiles of 16, 32, 64 and 128, and places in between. */
static int positions(const struct oracle *o, int64_t out[16])
{
    const int64_t n = o->elements, w = o->width;
    const int64_t wanted[] = {0,
                              n - 1,
                              w - 1,
                              n - w,
                              n / 2,
                              w > 32 ? 31 : 0,
                              w > 32 ? 32 : 0,
                              n > 64 * w ? 64 * w : n / 3,
                              w > 128 ? n - w + 128 : n / 5};
    int count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool have = wanted[i] < 0 || wanted[i] >= n;
        for (int j = 0; j < count; j++)
            have |= out[j] == wanted[i];
        if (!have)
            out[count++] = wanted[i];
    }
    return count;
}

START_TEST(a_single_wrong_element_is_caught_anywhere)
{
    for (const char *const *input = oracle_inputs(cases[_i].problem); *input; input++) {
        struct oracle o;
        int64_t at[16];
        open_honest(&o, &cases[_i], *input);
        const int count = positions(&o, at);
        for (int p = 0; p < count; p++) {
            const struct judged e = oracle_enclosure(&o, at[p]);
            poison_caught(&o, at[p]);
            if (isnan(e.mid))
                break_nan(&o, at[p]);
            else if (isinf(e.mid))
                break_infinity(&o, at[p], e.mid);
            else
                break_number(&o, at[p], &e);
        }
        expect_pass(&o, "the output put back");
        oracle_close(&o);
    }
}
END_TEST

/* --- the whole output --- */

static bool rows_differ(const struct oracle *o, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < o->width; i++) {
        const double x = oracle_get(o, a * o->width + i), y = oracle_get(o, b * o->width + i);
        if (isnan(x) != isnan(y) || fabs(x - y) > 0.1 * (fabs(x) + fabs(y)) + 1e-9)
            return true;
    }
    return false;
}

static void swap_elements(struct oracle *o, int64_t a, int64_t b)
{
    const uint32_t bits = oracle_bits(o, a);
    oracle_put_bits(o, a, oracle_bits(o, b));
    oracle_put_bits(o, b, bits);
}

static bool all_zero(const struct oracle *o)
{
    for (int64_t i = 0; i < o->elements; i++)
        if (oracle_get(o, i) != 0)
            return false;
    return true;
}

static void break_all(struct oracle *o, uint32_t bits)
{
    for (int64_t i = 0; i < o->elements; i++)
        oracle_put_bits(o, i, bits);
    oracle_judge(o, &report);
}

START_TEST(a_wrong_output_is_caught_in_every_class)
{
    for (const char *const *input = oracle_inputs(cases[_i].problem); *input; input++) {
        struct oracle o;
        open_honest(&o, &cases[_i], *input);
        const int64_t last = o.elements / o.width - 1;
        const bool zero = all_zero(&o);
        if (last > 0 && rows_differ(&o, 0, last)) {
            for (int64_t i = 0; i < o.width; i++)
                swap_elements(&o, i, last * o.width + i);
            oracle_judge(&o, &report);
            ck_assert_msg(report.wrong > 0, "swapped rows, %s", *input);
        }
        break_all(&o, 0);
        ck_assert_msg((report.wrong > 0) != zero, "all zero, %s", *input);
        break_all(&o, o.dtype == DTYPE_F32 ? 0x7fc00000u : 0x7fc0u);
        ck_assert(report.wrong > 0 || strcmp(*input, "special") == 0);
        break_all(&o, o.request.poison);
        ck_assert_int_eq(report.unwritten, o.elements);
        ck_assert_int_eq(report.wrong, o.elements);
        ck_assert_int_eq(report.last_wrong, o.elements - 1);
        oracle_close(&o);
    }
}
END_TEST

START_TEST(no_element_of_a_chunked_product_is_skipped)
{
    struct oracle o;
    open_honest(&o, &cases[4], "normal");
    for (int64_t i = 0; i < o.elements; i += 7)
        put_caught(&o, i, NAN, "NaN");
    oracle_close(&o);
}
END_TEST

/* --- special values --- */

/* y = scale * 1, or -1 with a negative weight; exact data leave the output's rounding alone. */
static void expect_overflow(float scale, bool infinite, bool largest, bool negative)
{
    struct oracle o;
    oracle_open(&o, "gemm_fp8", "m=1 n=1 k=1 input=integers", 0, 0);
    *(uint8_t *)o.tensor[0] = 0x38; /* 1.0 */
    *(uint8_t *)o.tensor[1] = negative ? 0xb8 : 0x38;
    *(float *)o.tensor[2] = scale;
    const struct {
        uint16_t bits;
        bool good;
    } tries[] = {{0x7f80, infinite}, {0x7f7f, largest}, {0xff80, false}, {0x7fc0, false}};
    for (int i = 0; i < 4; i++) {
        oracle_put_bits(&o, 0, tries[i].bits ^ (negative ? 0x8000u : 0));
        oracle_judge(&o, &report);
        ck_assert_msg((report.wrong == 0) == tries[i].good, "%a: %04x", scale, tries[i].bits);
        ck_assert(oracle_witness(&o, &report.worst).ok == tries[i].good);
    }
    oracle_close(&o);
}

/* The largest bf16 is 2^128 - 2^120; halfway to 2^128, ties to even are infinite. */
START_TEST(infinity_is_right_only_beyond_the_range_of_the_format)
{
    for (int negative = 0; negative < 2; negative++) {
        expect_overflow(0x1.fep127f, false, true, negative);
        expect_overflow(0x1.fefffep127f, false, true, negative);
        expect_overflow(0x1.ffp127f, true, true, negative);
        expect_overflow(0x1.ff0002p127f, true, false, negative);
        expect_overflow(FLT_MAX, true, false, negative);
    }
}
END_TEST

/* Rows that are NaN by definition, left with their poison: unwritten, although they read as NaN. */
START_TEST(nobody_gets_a_nan_for_nothing)
{
    struct oracle o;
    int64_t skipped = 0;
    oracle_open(&o, "softmax", "rows=40 cols=5 input=special seed=2", 0, 0);
    oracle_honest(&o);
    for (int64_t i = 0; i < o.elements; i++)
        if (isnan(oracle_get(&o, i))) {
            oracle_put_bits(&o, i, o.request.poison);
            skipped++;
        }
    oracle_judge(&o, &report);
    ck_assert_int_gt(skipped, 0);
    ck_assert_int_eq(report.unwritten, skipped);
    ck_assert_int_eq(report.wrong, skipped);
    ck_assert(report.worst.unwritten && isinf(report.worst_ratio));
    ck_assert(!oracle_witness(&o, &report.worst).ok);
    oracle_close(&o);
}
END_TEST

/* Neither the order of threads nor their number may choose the element that a report names. */
START_TEST(of_equally_wrong_elements_the_first_is_named_whatever_the_threads)
{
    struct oracle o;
    oracle_open(&o, "softmax", "rows=64 cols=129 input=normal seed=5", 0, 0);
    for (int threads = 1; threads <= 7; threads++) {
        omp_set_num_threads(threads);
        oracle_judge(&o, &report); /* all poison */
        ck_assert_int_eq(report.wrong, o.elements);
        ck_assert_int_eq(report.worst.index, 0);
    }
    oracle_close(&o);
}
END_TEST

Suite *judge_suite(void)
{
    Suite *suite = suite_create("judge");
    TCase *outputs = tcase_create("outputs"), *special = tcase_create("special");
    tcase_add_loop_test(outputs, an_honest_output_passes_in_every_class, 0, CASES);
    tcase_add_loop_test(outputs, a_single_wrong_element_is_caught_anywhere, 0, CASES);
    tcase_add_loop_test(outputs, a_wrong_output_is_caught_in_every_class, 0, CASES);
    tcase_add_test(outputs, no_element_of_a_chunked_product_is_skipped);
    tcase_add_test(special, infinity_is_right_only_beyond_the_range_of_the_format);
    tcase_add_test(special, nobody_gets_a_nan_for_nothing);
    tcase_add_test(special, of_equally_wrong_elements_the_first_is_named_whatever_the_threads);
    tcase_set_timeout(outputs, 120);
    suite_add_tcase(suite, outputs);
    suite_add_tcase(suite, special);
    suite_add_tcase(suite, judge_report_case());
    suite_add_tcase(suite, judge_rounded_case());
    suite_add_tcase(suite, stored_case());
    suite_add_tcase(suite, topk_case());
    return suite;
}
