/* The oracle as a stranger would test it: its MPFR witness against evaluations that share no code with it,
 * its enclosures against the witness. The operations of an enclosure: test_enclosure.c. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "problems/candidate.h"
#include "exact.h"

Suite *reference_suite(void);
TCase *enclosure_case(void);
TCase *fetcher_case(void);
TCase *kda_case(void);

static const struct oracle_case cases[] = {
    {"softmax", "rows=1 cols=1"},
    {"softmax", "rows=9 cols=3"},
    {"softmax", "rows=17 cols=33"},
    {"softmax", "rows=2 cols=1025"},
    {"gemm_fp8", "m=1 n=1 k=1"},
    {"gemm_fp8", "m=3 n=5 k=7"},
    {"gemm_fp8", "m=17 n=33 k=129"},
    {"gemm_fp8", "m=65 n=2 k=1000"},
    {"paged_attention", "batch=1 heads=1 kv_heads=1 head_dim=64 page_size=1 max_len=1"},
    {"paged_attention", "batch=3 heads=6 kv_heads=2 head_dim=80 page_size=16 max_len=49 "
                        "lengths=ragged table=shuffled past=nan"},
    {"paged_attention", "batch=4 heads=4 kv_heads=4 head_dim=112 page_size=17 max_len=51 "
                        "lengths=full table=shared past=invalid"},
    {"paged_attention", "batch=2 heads=16 kv_heads=1 head_dim=96 page_size=8 max_len=65 "
                        "lengths=over table=reversed past=nan"},
    {"paged_attention", "batch=5 heads=2 kv_heads=1 head_dim=256 page_size=128 max_len=130 "
                        "lengths=short table=identity past=invalid"},
    {"gemm_bf16", "m=1 n=1 k=1 trans_b=0"},
    {"gemm_bf16", "m=66 n=130 k=7 trans_b=1"}, /* beyond one chunk of the host's judge both ways */
    {"gemm_bf16", "m=5 n=18 k=517 trans_b=0"},
    {"gemm_f32", "m=1 n=1 k=1 trans_b=1"},
    {"gemm_f32", "m=66 n=130 k=7 trans_b=0"},
    {"gemm_f32", "m=5 n=18 k=517 trans_b=1"},
    {"gemm_w4a16", "m=1 n=1 k=2 group=128 zero=drawn"},
    {"gemm_w4a16", "m=65 n=3 k=96 group=96 zero=low"},     /* one full group */
    {"gemm_w4a16", "m=3 n=129 k=34 group=32 zero=spread"}, /* two rows in the last group */
    {"gemm_w4a16", "m=7 n=17 k=290 group=64 zero=high"},
    {"gemm_w4a16", "m=7 n=17 k=254 group=128 zero=equal"},
    {"moe_up", "tokens=1 hidden_dim=1 inter_dim=1 experts=1 routing=even"},
    {"moe_up", "tokens=5 hidden_dim=67 inter_dim=9 experts=8 routing=single"},
    {"moe_up", "tokens=67 hidden_dim=20 inter_dim=66 experts=2 routing=empty"},
    {"moe_up", "tokens=40 hidden_dim=33 inter_dim=5 experts=9 routing=zipf"},
    {"moe_up", "tokens=70 hidden_dim=17 inter_dim=3 experts=5 routing=one"},
    {"moe_up", "tokens=30 hidden_dim=130 inter_dim=8 experts=4 routing=odd"},
};
enum { CASES = sizeof cases / sizeof *cases };

/* --- the witness --- */

/* The witness says whether it lies within `distance` +- 2^-85 reach of a double, where `distance` is that of
 * the exact value. This is far sharper than the double that it reports. */
static void expect_witness(const struct oracle *o, int64_t index, mpfr_t exact, double reach)
{
    struct judged question = {.index = index, .mid = mpfr_get_d(exact, MPFR_RNDN)};
    struct witnessed answer = oracle_witness(o, &question);
    if (mpfr_nan_p(exact)) {
        ck_assert_msg(isnan(answer.value), "element %lld: %g, not NaN", (long long)index, answer.value);
        return;
    }
    if (mpfr_inf_p(exact)) {
        ck_assert(answer.value == question.mid && answer.inside);
        return;
    }
    ck_assert_msg(answer.value == question.mid, "element %lld of %s: witness %a, exact %a", (long long)index,
                  o->reference->problem->name, answer.value, question.mid);
    mpfr_sub_d(exact, exact, question.mid, MPFR_RNDN);
    const double distance = fabs(mpfr_get_d(exact, MPFR_RNDN)), room = reach * 0x1p-85 + 0x1p-1000;
    question.rad = distance + room;
    ck_assert(oracle_witness(o, &question).inside);
    question.rad = distance - room;
    ck_assert(distance <= room || !oracle_witness(o, &question).inside);
}

static void compare_witness(const struct oracle_case *c, const char *input, int count)
{
    char line[256];
    struct oracle o;
    mpfr_t exact;
    mpfr_init2(exact, EXACT_BITS);
    oracle_line(line, sizeof line, c->line, input, 11);
    oracle_open(&o, c->problem, line, 0, 0);
    omp_set_num_threads(2); /* long rows are shared by a team */
    const int64_t step = o.elements / count + 1;
    for (int64_t i = 0; i < o.elements + step - 1; i += step) {
        double reach;
        const int64_t index = i < o.elements ? i : o.elements - 1;
        exact_value(&o, index, exact, &reach);
        expect_witness(&o, index, exact, reach);
    }
    oracle_close(&o);
    mpfr_clear(exact);
}

START_TEST(the_witness_agrees_with_a_second_evaluation)
{
    const bool sums = strcmp(cases[_i].problem, "softmax") && strcmp(cases[_i].problem, "paged_attention");
    for (const char *const *input = oracle_inputs(cases[_i].problem); *input; input++)
        compare_witness(&cases[_i], *input, sums ? 100 : 8);
}
END_TEST

/* A team of threads shares a row above 2e5 terms. */
START_TEST(the_witness_of_a_long_row_agrees_too)
{
    compare_witness(&(struct oracle_case){"softmax", "rows=1 cols=20011"}, "digits", 2);
    compare_witness(
        &(struct oracle_case){"paged_attention",
                              "batch=1 heads=2 kv_heads=2 head_dim=64 page_size=16 max_len=3001 past=nan"},
        "large", 2);
}
END_TEST

/* --- the audit of an enclosure, which every definition goes through (verify/selftest) --- */

START_TEST(the_audit_sees_an_enclosure_beside_the_value)
{
    for (int c = 0; c < CASES; c++) {
        char line[256];
        struct oracle o;
        oracle_line(line, sizeof line, cases[c].line, "normal", 23);
        oracle_open(&o, cases[c].problem, line, 1, 0);
        struct judged e = oracle_enclosure(&o, o.elements / 2);
        ck_assert(oracle_witness(&o, &e).inside && isfinite(e.mid));
        e.mid += 4 * e.rad + fabs(e.mid) * 1e-14 + 0x1p-1022;
        ck_assert(!oracle_witness(&o, &e).inside);
        e.mid = NAN;
        ck_assert(!oracle_witness(&o, &e).inside);
        oracle_close(&o);
    }
}
END_TEST

/* The audit must also see inputs that differ from those of the enclosure. */
START_TEST(the_audit_sees_an_input_that_changed)
{
    struct oracle o;
    oracle_open(&o, "gemm_fp8", "m=9 n=5 k=300 input=normal seed=8", 0, 0);
    struct judged e = oracle_enclosure(&o, 17);
    uint8_t *x = (uint8_t *)o.tensor[0] + 17 / 5 * 300 + 299;
    ck_assert(oracle_witness(&o, &e).inside);
    *x ^= 1;
    ck_assert(!oracle_witness(&o, &e).inside);
    oracle_close(&o);
}
END_TEST

Suite *reference_suite(void)
{
    Suite *suite = suite_create("reference");
    TCase *witness = tcase_create("witness"), *enclosure = tcase_create("enclosure");
    tcase_add_loop_test(witness, the_witness_agrees_with_a_second_evaluation, 0, CASES);
    tcase_add_test(witness, the_witness_of_a_long_row_agrees_too);
    tcase_add_test(enclosure, the_audit_sees_an_enclosure_beside_the_value);
    tcase_add_test(enclosure, the_audit_sees_an_input_that_changed);
    tcase_set_timeout(witness, 120);
    tcase_set_timeout(enclosure, 120);
    suite_add_tcase(suite, witness);
    suite_add_tcase(suite, enclosure);
    suite_add_tcase(suite, fetcher_case());
    suite_add_tcase(suite, enclosure_case());
    suite_add_tcase(suite, kda_case());
    return suite;
}
