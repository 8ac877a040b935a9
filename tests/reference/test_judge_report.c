/* Parts of a judge's report besides right and wrong: the published check, the arithmetic that fits, decisions
 * that only MPFR can make. */
#include <math.h>

#include "oracle.h"
#include "reference/precomputed.h"
#include "verify/device/memory.h"

TCase *judge_report_case(void);

static struct judge_report report;

/* torch.allclose: |got - want| <= atol + rtol |want|, and NaN is close to nothing. */
START_TEST(the_published_check_counts_as_allclose_does)
{
    struct oracle o;
    int64_t nans = 0;
    oracle_open(&o, "softmax", "rows=24 cols=6 input=special seed=1", 0, 0);
    oracle_honest(&o);
    for (int64_t i = 0; i < o.elements; i++)
        nans += isnan(oracle_get(&o, i));
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.published_wrong, nans);
    oracle_close(&o);

    oracle_open(&o, "softmax", "rows=2 cols=4 input=integers seed=1", 0, 0);
    oracle_honest(&o);
    for (int i = 0; i < 8; i++) {
        const double want = oracle_get(&o, i), tolerance = 1e-5 + 1e-5 * want;
        oracle_put(&o, i, want + tolerance * (i % 2 ? 1.01 : -0.99));
    }
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.published_wrong, 4);
    oracle_close(&o);
}
END_TEST

/* Too coarse for fp32, within the 13 bits of Hopper's fp8: named, and admitted only there. */
START_TEST(the_tightest_arithmetic_that_fits_is_named)
{
    const char *line = "m=6 n=6 k=512 input=normal seed=4";
    struct oracle o;
    for (int hopper = 0; hopper < 2; hopper++) {
        oracle_open(&o, "gemm_fp8", line, 0, hopper ? 90 : 0);
        oracle_honest(&o);
        const struct judged e = oracle_enclosure(&o, 20);
        oracle_put(&o, 20, e.mid + (hopper ? 0.9 : 30) * e.allowed);
        oracle_judge(&o, &report);
        ck_assert_int_eq(report.wrong, hopper ? 0 : 1);
        ck_assert_int_gt(report.fits, 0);
        ck_assert_str_eq(o.request.arithmetics.item[2].name, "fp8 MMA");
        ck_assert(!hopper || report.fits == 2);
        oracle_put(&o, 20, 1e30);
        oracle_judge(&o, &report);
        ck_assert_int_eq(report.fits, o.request.arithmetics.count);
        oracle_close(&o);
    }
}
END_TEST

/* The allowance is moved until its edge meets the candidate's error, `radii` radii beyond it. */
static void meet_the_edge(struct oracle *o, const struct judged *e, double radii)
{
    struct arithmetic *fp32 = &o->request.arithmetics.item[0];
    const double error = fabs(e->got - e->mid);
    fp32->operand = 0;
    const double bare = oracle_enclosure(o, e->index).allowed;
    fp32->operand = (error - bare + radii * e->rad) / (2 * e->mid);
    oracle_judge(o, &report);
}

START_TEST(what_the_enclosure_leaves_open_goes_to_mpfr)
{
    struct oracle o;
    oracle_open(&o, "softmax", "rows=3 cols=70 input=normal seed=6", 0, 0);
    oracle_honest(&o);
    struct judged e = oracle_enclosure(&o, 100);
    oracle_put(&o, 100, e.mid * 1.01);
    e = oracle_enclosure(&o, 100);
    meet_the_edge(&o, &e, 8);
    ck_assert(report.open == 0 && report.wrong == 0);
    meet_the_edge(&o, &e, -8);
    ck_assert(report.open == 0 && report.wrong == 1);
    for (int side = -1; side <= 1; side += 2) {
        meet_the_edge(&o, &e, 0.9 * side);
        ck_assert_int_eq(report.open, 1);
        ck_assert_int_eq(report.wrong, 0);
        ck_assert_int_eq(report.opens[0].index, 100);
        const struct witnessed w = oracle_witness(&o, &report.opens[0]);
        ck_assert(w.inside && w.ok == (e.got - w.value <= report.opens[0].allowed));
    }
    oracle_close(&o);
}
END_TEST

/* Means of integers that cancel to 0 over a long sequence: MPFR would take a second for each. */
START_TEST(a_long_sum_that_cancels_is_not_left_open)
{
    struct oracle o;
    oracle_open(&o, "paged_attention",
                "batch=1 heads=32 kv_heads=32 head_dim=256 page_size=64 "
                "max_len=9000 past=nan input=uniform seed=3",
                0, 0);
    for (int64_t i = 0; i < o.elements; i++)
        oracle_put(&o, i, 0);
    oracle_judge(&o, &report);
    ck_assert_int_lt(report.wrong, o.elements); /* zero is right somewhere */
    ck_assert_int_gt(report.wrong, o.elements / 2);
    ck_assert_int_eq(report.open, 0);
    oracle_close(&o);
}
END_TEST

/* Judges one element that holds the poison of `dtype`, where `want` is right. */
static void judge_poison(enum dtype dtype, const uint32_t poison[2], double want)
{
    const struct tensor tensor = {"y", dtype, TENSOR_OUTPUT, "[n]"};
    const struct problem problem = {.tensors = &tensor};
    const double allowed = 0;
    const struct judge_request request = {.problem = &problem,
                                          .got = poison,
                                          .width = 1,
                                          .poison = memory_poison_element(dtype),
                                          .want = &want,
                                          .allowed = &allowed,
                                          .given = 1};
    precomputed_judge_host(&request, &report);
}

/* A task may ask for any number, also for the poison's. A NaN that no kernel stores is never right. */
START_TEST(a_right_number_is_written_whatever_its_bits)
{
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        const struct dtype_row *row = dtype_row(dtype);
        const uint32_t poison[2] = {row->poison, row->poison};
        uint32_t bits;
        const double value = dtype_load(dtype, poison, 0, &bits);
        judge_poison(dtype, poison, value);
        const int missing = isnan(value) && !dtype_holds_poison(dtype);
        ck_assert_msg(report.wrong == missing && report.unwritten == missing, "%s", row->name);
        judge_poison(dtype, poison, 1);
        ck_assert_msg(report.wrong == 1 && report.unwritten == 1, "%s", row->name);
    }
}
END_TEST

TCase *judge_report_case(void)
{
    TCase *besides = tcase_create("besides");
    tcase_add_test(besides, the_published_check_counts_as_allclose_does);
    tcase_add_test(besides, the_tightest_arithmetic_that_fits_is_named);
    tcase_add_test(besides, a_right_number_is_written_whatever_its_bits);
    tcase_add_test(besides, a_long_sum_that_cancels_is_not_left_open);
    tcase_add_test(besides, what_the_enclosure_leaves_open_goes_to_mpfr);
    tcase_set_timeout(besides, 60);
    return besides;
}
