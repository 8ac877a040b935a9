/* Elements, folds, several outputs, in-out tensors and contractions that say where their output lies.
 * Enclosure, MPFR and a plain evaluation agree, honest outputs pass, and each single fault is seen. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"
#include "suites.h"

static struct judge_report report;

static void expect_agreement(struct oracle *o)
{
    const int64_t step = o->elements / 150 + 1;
    for (int64_t i = 0; i < o->elements; i += step) {
        const struct form_value plain = form_evaluate(o, i);
        struct judged e = oracle_enclosure(o, i);
        const struct witnessed answer = oracle_witness(o, &e);
        const double off = fabs((double)(answer.value - plain.value));
        ck_assert_msg(answer.inside, "%s, element %lld: %a +- %a does not hold %a", o->config.problem->name,
                      (long long)i, e.mid, e.rad, answer.value);
        ck_assert_int_eq(e.kept, plain.kept);
        if (plain.kept || !isfinite((double)plain.value))
            continue;
        ck_assert_msg(off <= plain.reach || answer.value == plain.value, "%s, element %lld: %a, plainly %a",
                      o->config.problem->name, (long long)i, answer.value, (double)plain.value);
        ck_assert(e.rad <= 1e-9 * fabs(e.mid) + 1e-12); /* narrow enough to decide */
        e.mid += 4 * e.rad + fabs(e.mid) * 1e-14 + 0x1p-1000;
        ck_assert(isinf(e.mid) || !oracle_witness(o, &e).inside);
    }
}

START_TEST(enclosure_witness_and_a_plain_evaluation_agree)
{
    for (const struct input_class *class = form_cases[_i].problem->classes; class->name; class ++) {
        struct oracle o;
        form_open(&o, &form_cases[_i], class->name);
        omp_set_num_threads(2); /* long folds are shared by a team */
        expect_agreement(&o);
        oracle_close(&o);
    }
}
END_TEST

static void expect_pass(struct oracle *o)
{
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == 0, "%s: %lld wrong, worst %lld: %.9g, expected %.9g +- %.3g",
                  o->config.problem->name, (long long)report.wrong, (long long)report.worst.index,
                  report.worst.got, report.worst.mid, report.worst.allowed);
    for (int64_t i = 0; i < report.open && i < JUDGE_OPEN; i++)
        ck_assert(oracle_witness(o, &report.opens[i]).ok);
}

/* Element `index` alone is wrong, it is the worst, and MPFR agrees. */
static void expect_caught(struct oracle *o, int64_t index)
{
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == 1 && report.first_wrong == index && report.last_wrong == index,
                  "%s at %lld: %lld wrong, the first at %lld", o->config.problem->name, (long long)index,
                  (long long)report.wrong, (long long)report.first_wrong);
    ck_assert(report.worst.index == index && report.worst_ratio > 1);
    ck_assert(!oracle_witness(o, &report.worst).ok);
}

/* The next number but few of the output's format that is more than twice the allowed error from the right
 * one. */
static void spoil(struct oracle *o, int64_t index)
{
    const struct judged e = oracle_enclosure(o, index);
    const uint32_t bits = oracle_bits(o, index);
    oracle_put_bits(o, index, bits ^ 1);
    for (uint32_t by = 2; !e.kept && fabs(oracle_get(o, index) - e.mid) <= 2 * e.allowed; by *= 2)
        oracle_put_bits(o, index, bits ^ by);
}

START_TEST(an_honest_output_passes_and_a_single_wrong_element_does_not)
{
    for (const struct input_class *class = form_cases[_i].problem->classes; class->name; class ++) {
        struct oracle o;
        form_open(&o, &form_cases[_i], class->name);
        form_honest(&o);
        expect_pass(&o);
        const int64_t step = o.elements / 17 + 1;
        for (int64_t i = 0; i < o.elements; i += step) {
            const uint32_t right = oracle_bits(&o, i);
            if (!isfinite(oracle_get(&o, i)) && !form_evaluate(&o, i).kept)
                continue;
            spoil(&o, i);
            expect_caught(&o, i);
            ck_assert_int_eq(report.changed, form_evaluate(&o, i).kept);
            oracle_put_bits(&o, i, right);
        }
        oracle_close(&o);
    }
}
END_TEST

/* The judge accepts the values that it expects. A tensor in place keeps, bit for bit, the elements to
 * keep. */
START_TEST(what_is_expected_passes)
{
    struct oracle o;
    form_open(&o, &form_cases[_i], "normal");
    void *expected = malloc((size_t)o.bytes[o.output]);
    ck_assert_ptr_nonnull(expected);
    o.request.expected = expected;
    oracle_judge(&o, &report);
    o.request.expected = NULL;
    memcpy(o.got, expected, (size_t)o.bytes[o.output]);
    free(expected);
    expect_pass(&o);
    oracle_close(&o);
}
END_TEST

/* --- in place --- */

static const struct form_case append_case = {&problem_append, "cache", "tokens=20 slots=60 dim=33"};

/* A candidate that does nothing has written nothing wrong, and is wrong wherever a value was to change. */
START_TEST(a_tensor_left_alone_is_wrong_where_it_had_to_change)
{
    struct oracle o;
    int64_t due = 0;
    form_open(&o, &append_case, "normal");
    for (int64_t i = 0; i < o.elements; i++)
        due += !form_evaluate(&o, i).kept;
    oracle_judge(&o, &report);
    ck_assert_int_eq(due, 20 * 33);
    ck_assert_int_ge(report.wrong, due - 3); /* an addend may be too small to matter */
    ck_assert_int_le(report.wrong, due);
    ck_assert_int_eq(report.unwritten, 0);
    ck_assert_int_eq(report.changed, 0);
    oracle_close(&o);
}
END_TEST

/* Signs of zero and payloads of NaN are bits like others. */
START_TEST(a_kept_element_has_its_very_bits)
{
    struct oracle o;
    int nans = 0, zeros = 0;
    form_open(&o, &append_case, "special");
    form_honest(&o);
    for (int64_t i = 0; i < o.elements; i++) {
        const double held = oracle_get(&o, i);
        const uint32_t bits = oracle_bits(&o, i);
        if (!form_evaluate(&o, i).kept || (!isnan(held) && held != 0) || nans + zeros > 40)
            continue;
        oracle_put_bits(&o, i, isnan(held) ? bits ^ 1 : bits ^ 0x8000);
        expect_caught(&o, i);
        ck_assert_int_eq(report.changed, 1);
        oracle_put_bits(&o, i, bits);
        nans += isnan(held);
        zeros += held == 0;
    }
    ck_assert_int_gt(nans, 0);
    ck_assert_int_gt(zeros, 0);
    oracle_close(&o);
}
END_TEST

/* The enclosure and the witness must agree about which elements are kept, as about values. */
START_TEST(the_audit_sees_a_row_that_is_kept_for_one_only)
{
    struct oracle o;
    form_open(&o, &append_case, "normal");
    const int64_t appended = oracle_i32(&o, 1, 0) * (int64_t)33;
    struct judged e = oracle_enclosure(&o, appended);
    ck_assert(!e.kept && oracle_witness(&o, &e).inside);
    for (int32_t slot = 0; slot < 60; slot++) { /* a row that no token names */
        bool named = false;
        for (int t = 0; t < 20; t++)
            named = named || oracle_i32(&o, 1, t) == slot;
        if (!named)
            ((int32_t *)o.tensor[1])[0] = slot;
    }
    ck_assert(!oracle_witness(&o, &e).inside);
    e = oracle_enclosure(&o, appended);
    ck_assert(e.kept && oracle_witness(&o, &e).inside);
    oracle_close(&o);
}
END_TEST

/* --- folds --- */

static const struct form_case long_fold = {&problem_norm, "y", "vectors=2 n=300007"};

START_TEST(a_fold_has_the_same_bits_with_any_number_of_threads)
{
    struct oracle o;
    form_open(&o, &long_fold, "normal");
    const struct judged alone = oracle_enclosure(&o, 1);
    for (int threads = 2; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        const struct judged e = oracle_enclosure(&o, 1);
        ck_assert(e.mid == alone.mid && e.rad == alone.rad && e.allowed == alone.allowed);
    }
    oracle_close(&o);
}
END_TEST

/* An audit of some terms, by both evaluations. A changed term is seen if it is among them, and only then. */
START_TEST(a_fold_can_be_audited_in_part)
{
    struct oracle o;
    form_open(&o, &long_fold, "normal");
    const double whole = oracle_enclosure(&o, 1).mid;
    o.request.context.first_term = 200001;
    o.request.context.end_term = 200900;
    const struct judged part = oracle_enclosure(&o, 1);
    ck_assert(oracle_witness(&o, &part).inside);
    ck_assert(part.mid > 0 && part.mid < whole / 4);
    float *x = (float *)o.tensor[0] + 300007;
    x[200900] += 1;
    ck_assert(oracle_witness(&o, &part).inside);
    x[200899] += 1;
    ck_assert(!oracle_witness(&o, &part).inside);
    oracle_close(&o);
}
END_TEST

/* --- which judgement is whose --- */

START_TEST(every_output_finds_its_judgement)
{
    struct judgement list[PROBLEM_MAX_TENSORS];
    int missing;
    ck_assert_int_eq(reference_list(&problem_extremes, list, &missing), 2);
    ck_assert_int_eq(missing, -1);
    ck_assert(list[0].output == 1 && list[0].tensors == 2 && !list[0].reference->output);
    ck_assert(list[1].output == 2 && list[1].tensors == 4);
    ck_assert_str_eq(list[1].reference->output, "total");
    ck_assert_ptr_eq(reference_find(&problem_extremes, 2), list[1].reference);
    ck_assert_ptr_null(reference_find(&problem_extremes, 0));
    /* a discrete one is of all outputs */
    const struct problem *topk = problem_find("topk");
    ck_assert_int_eq(reference_list(topk, list, &missing), 1);
    ck_assert(list[0].output == 1 && list[0].tensors == 6 && missing == -1);
    ck_assert_ptr_eq(reference_find(topk, 2), reference_find(topk, 1));
}
END_TEST

START_TEST(an_output_without_a_judgement_is_named)
{
    static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                            {"y", DTYPE_F32, TENSOR_OUTPUT, "[n]"},
                                            {"cache", DTYPE_F32, TENSOR_INOUT, "[n]"},
                                            {0}};
    static const struct problem problem = {.name = "half_judged", .tensors = tensors};
    static struct reference first;
    struct judgement list[PROBLEM_MAX_TENSORS];
    int missing;
    ck_assert_int_eq(reference_list(&problem, list, &missing), 0);
    ck_assert_int_eq(missing, 1);
    first = (struct reference){.problem = &problem, .discrete = true};
    ck_assert(reference_add(&first));
    ck_assert_int_eq(reference_list(&problem, list, &missing), 1);
    ck_assert_int_eq(missing, 2); /* in-out: not among those of a discrete one */
}
END_TEST

Suite *forms_suite(void)
{
    Suite *suite = suite_create("forms");
    TCase *tcase = tcase_create("forms");
    forms_add();
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, enclosure_witness_and_a_plain_evaluation_agree, 0, FORM_CASES);
    tcase_add_loop_test(tcase, an_honest_output_passes_and_a_single_wrong_element_does_not, 0, FORM_CASES);
    tcase_add_loop_test(tcase, what_is_expected_passes, 0, FORM_CASES);
    tcase_add_test(tcase, a_tensor_left_alone_is_wrong_where_it_had_to_change);
    tcase_add_test(tcase, a_kept_element_has_its_very_bits);
    tcase_add_test(tcase, the_audit_sees_a_row_that_is_kept_for_one_only);
    tcase_add_test(tcase, a_fold_has_the_same_bits_with_any_number_of_threads);
    tcase_add_test(tcase, a_fold_can_be_audited_in_part);
    tcase_add_test(tcase, every_output_finds_its_judgement);
    tcase_add_test(tcase, an_output_without_a_judgement_is_named);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, forms_session_case());
    return suite;
}
