/* Judging an imported task's outputs: by precomputed values, and by those of a process that computes them.
 * Most tests have a stand-in for that process, tests/python/fixture_oracle.py, which needs a Python without
 * torch. One test has the real one. */
#include <check.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle_task.h"
#include "reference/precomputed.h"
#include "reports/record/oracle_quality.h"
#include "skip.h"
#include "suites.h"
#include "verify/device/memory.h"
#include "verify/torch/pool.h"

/* --- judging by precomputed values --- */

static const double right[] = {1, -2, 0, NAN, INFINITY, 1e30, 3, 4, -INFINITY};
static const double allowed[] = {1e-6, 1e-6, 0, 0, 0, 1e23, INFINITY, 1e-6, INFINITY};
enum { GIVEN = sizeof right / sizeof *right };

/* Sets one right element to `value`; returns which ones are wrong then. */
static void judge_one(int at, float value, struct judge_report *report, unsigned char *wrong)
{
    float got[GIVEN];
    for (int i = 0; i < GIVEN; i++)
        got[i] = (float)right[i];
    got[at] = value;
    memset(wrong, 0, GIVEN);
    const struct judge_request request = {.problem = &task_doubled,
                                          .output = Y,
                                          .got = got,
                                          .width = GIVEN,
                                          .want = right,
                                          .allowed = allowed,
                                          .given = GIVEN,
                                          .wrong = wrong,
                                          .arithmetics = {.count = 3},
                                          .poison = memory_poison_element(DTYPE_F32),
                                          .atol = 1e-4,
                                          .rtol = 1e-4};
    ck_assert_int_eq(reference_given.judge_host(&request, report), 0);
}

static float poison(void)
{
    const uint32_t bits = memory_poison_element(DTYPE_F32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

START_TEST(given_values_decide_element_by_element)
{
    const struct {
        int at;
        float value;
        bool wrong, unwritten, published; /* NaN is wrong for the published check, whatever the right value
                                           * is */
    } cases[] = {
        {0, 1, false, false, false},
        {0, 1 + 0x1p-20f, false, false, false},
        {0, 1 + 0x1p-18f, true, false, false},
        {0, 1.5f, true, false, true},
        {0, NAN, true, false, true},
        {1, -2.00001f, true, false, false},
        {2, 0x1p-149f, true, false, false},
        {3, NAN, false, false, false},
        {3, 0, true, false, true},
        {4, INFINITY, false, false, false},
        {4, -INFINITY, true, false, true},
        {4, 1e38f, true, false, true},
        {5, INFINITY, true, false, true},
        {6, 1e20f, false, false, true},
        {6, NAN, true, false, true},
        {6, -INFINITY, false, false, true},
        {7, poison(), true, true, true},
        {8, -INFINITY, false, false, false},
        {8, 5, false, false, true},
        {8, NAN, true, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge_report report;
        unsigned char wrong[GIVEN];
        judge_one(cases[i].at, cases[i].value, &report, wrong);
        ck_assert_msg(report.wrong == cases[i].wrong, "case %zu: %d wrong", i, (int)report.wrong);
        ck_assert_int_eq(report.unwritten, cases[i].unwritten);
        ck_assert_int_eq(report.first_wrong, cases[i].wrong ? cases[i].at : -1);
        ck_assert_int_eq(wrong[cases[i].at], cases[i].wrong);
        ck_assert_int_eq(report.fits, cases[i].wrong ? 3 : 0);
        ck_assert_int_eq(report.published_wrong, 1 + (cases[i].published && cases[i].at != 3));
        if (cases[i].wrong)
            ck_assert_int_eq(report.worst.index, cases[i].at);
    }
}
END_TEST

/* --- the process --- */

static void open_stand_in(struct oracle **oracle, const char *how)
{
    const struct oracle_options options = {.problem = &task_doubled, .threads = 1, .seconds = 5};
    task_put("how.task", how);
    *oracle = oracle_begin(&options);
    ck_assert_ptr_nonnull(*oracle);
}

static int to_host(void *to, const void *from, int64_t offset, int64_t bytes)
{
    memcpy(to, (const char *)from + offset, (size_t)bytes);
    return 0;
}

struct asked {
    float x[N], y[N];
    int64_t at;
    struct instance instance;
    struct oracle_question question;
    struct oracle_answer answer;
};

static void make_question(struct asked *q, int64_t n)
{
    memset(q, 0, sizeof *q);
    for (int i = 0; i < N; i++)
        q->x[i] = (float)(i * 7 % N);
    q->instance = (struct instance){
        .extent = {n}, .tensor = {{.rank = 1, .dim = {n}}, {.rank = 1, .dim = {n}}, {.rank = 1, .dim = {1}}}};
    q->question = (struct oracle_question){
        .instance = &q->instance, .tensor = {q->x, q->y, &q->at}, .to_host = to_host};
}

START_TEST(a_process_answers)
{
    struct asked q;
    struct oracle *oracle;
    if (!task_has_python())
        SKIP_TEST("no python3");
    task_make();
    open_stand_in(&oracle, "honest");
    make_question(&q, 5);
    ck_assert_msg(oracle_ask(oracle, &q.question, &q.answer) == ORACLE_OK, "%s", q.answer.text);
    ck_assert_int_eq(q.answer.output[Y].elements, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(q.answer.output[Y].want[i], 2.0 * q.x[i]);
    ck_assert_double_eq(q.answer.output[AT].want[0], 4);
    ck_assert(q.answer.output[Y].enclosed && !q.answer.output[Y].ensemble && !q.answer.output[Y].constant);
    /* more elements: other memory */
    make_question(&q, N);
    ck_assert_msg(oracle_ask(oracle, &q.question, &q.answer) == ORACLE_OK, "%s", q.answer.text);
    ck_assert_double_eq(q.answer.output[Y].want[N - 1], 2.0 * q.x[N - 1]);
    ck_assert_double_eq(q.answer.output[Y].relative, 2); /* its second answer */
    /* the same element is not asked again; another index is */
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].relative, 2);
    q.at = 3;
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].relative, 3);
    q.x[2] += 1;
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].want[2], 2.0 * q.x[2]);
    oracle_end(oracle);
    task_remove();
}
END_TEST

static const struct {
    const char *how;
    enum oracle_status status;
    const char *says;
} endings[] = {
    {"exits", ORACLE_FAILED, "ended with status 7; its last words: the last word"},
    {"dies", ORACLE_FAILED, "signal 11"},
    {"killed", ORACLE_SHORT, "killed by signal 9\n---> give it more memory"},
    {"hangs", ORACLE_FAILED, "had no answer after 2 s"},
    {"babbles", ORACLE_FAILED, "answered 'whatever'"},
    {"fails", ORACLE_FAILED, "No module named 'torch'"},
    {"untold", ORACLE_UNTOLD, "three samples say nothing"},
    {"hoards", ORACLE_SHORT, "GiB of the 0.25 that it may"},
    {"cuts", ORACLE_FAILED, "ended with status 1"},
};

START_TEST(its_end_is_never_a_verdict)
{
    struct asked q;
    if (!task_has_python())
        SKIP_TEST("no python3");
    const struct oracle_options options = {.problem = &task_doubled,
                                           .threads = 1,
                                           .seconds = strcmp(endings[_i].how, "hangs") == 0 ? 2 : 60,
                                           .memory = (double)(256 << 20)};
    task_make();
    task_put("how.task", endings[_i].how);
    struct oracle *oracle = oracle_begin(&options);
    make_question(&q, 5);
    const enum oracle_status status = oracle_ask(oracle, &q.question, &q.answer);
    ck_assert_msg(status == endings[_i].status && strstr(q.answer.text, endings[_i].says), "%d: %s",
                  (int)status, q.answer.text);
    /* and the next question has a process again */
    task_put("how.task", "honest");
    make_question(&q, 7);
    if (status != ORACLE_UNTOLD && strcmp(endings[_i].how, "babbles") != 0)
        ck_assert_msg(oracle_ask(oracle, &q.question, &q.answer) == ORACLE_OK, "%s", q.answer.text);
    oracle_end(oracle);
    task_remove();
}
END_TEST

/* The stand-in's answer contains the number of its question in that process. */
static void expect_answer(struct oracle *oracle, float first, int number)
{
    struct asked q;
    make_question(&q, 5);
    q.x[0] = first;
    ck_assert_msg(oracle_ask(oracle, &q.question, &q.answer) == ORACLE_OK, "%s", q.answer.text);
    ck_assert_double_eq(q.answer.output[Y].want[0], 2.0 * first);
    ck_assert_double_eq(q.answer.output[Y].relative, number);
}

START_TEST(who_asks_next_gets_the_process_that_is_there)
{
    struct oracle_options options = {.problem = &task_doubled, .threads = 1, .seconds = 5};
    if (!task_has_python())
        SKIP_TEST("no python3");
    task_make();
    task_put("how.task", "honest");
    struct oracle_pool *const pool = oracle_pool_open(0);
    oracle_pool_prepare(pool, &options, 1);
    struct oracle *const first = oracle_take(pool, &options), *const beside = oracle_take(pool, &options);
    ck_assert(oracle_is_of(first, pthread_self()) && !oracle_is_of(beside, pthread_self()));
    expect_answer(first, 30, 1);
    expect_answer(beside, 30, 1);
    oracle_give(pool, first);
    struct oracle *const again = oracle_take(pool, &options);
    ck_assert_ptr_eq(again, first);
    expect_answer(again, 31, 2);
    oracle_give(pool, again);
    oracle_give(pool, beside);
    options.threads = 2;
    struct oracle *const other = oracle_take(pool, &options);
    expect_answer(other, 32, 1);
    oracle_give(pool, other);
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

static void *ask_in_a_thread(void *pool)
{
    const struct oracle_options options = {.problem = &task_doubled, .threads = 1, .seconds = 5};
    struct oracle *const oracle = oracle_take(pool, &options);
    expect_answer(oracle, 30, 1);
    oracle_give(pool, oracle);
    return NULL;
}

/* Its process ends with that thread, as it does where it ends by itself. The next question goes to another
 * one. */
START_TEST(a_process_that_is_gone_is_nobodys_want)
{
    const struct oracle_options options = {.problem = &task_doubled, .threads = 1, .seconds = 5};
    pthread_t thread;
    if (!task_has_python())
        SKIP_TEST("no python3");
    task_make();
    task_put("how.task", _i ? "once" : "honest");
    struct oracle_pool *const pool = oracle_pool_open(0);
    if (_i)
        ask_in_a_thread(pool);
    else
        ck_assert(pthread_create(&thread, NULL, ask_in_a_thread, pool) == 0 &&
                  pthread_join(thread, NULL) == 0);
    poll(NULL, 0, 300);
    struct oracle *const oracle = oracle_take(pool, &options);
    expect_answer(oracle, 31, 1);
    oracle_give(pool, oracle);
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

START_TEST(an_interpreter_that_is_none_is_named)
{
    struct asked q;
    const struct oracle_options options = {.problem = &task_doubled, .python = "/bin/true"};
    const struct oracle_options absent = {.problem = &task_doubled, .python = "no-such-python"};
    struct oracle *oracle = oracle_begin(&options);
    make_question(&q, 5);
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_FAILED);
    ck_assert_ptr_nonnull(
        strstr(q.answer.text, "cannot run the interpreter /bin/true: it does not say where it lies"));
    oracle_end(oracle);
    oracle = oracle_begin(&absent);
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_FAILED);
    ck_assert_ptr_nonnull(strstr(q.answer.text, "--python PATH"));
    oracle_end(oracle);
}
END_TEST

/* Our own evaluation needs torch, and its message has the words of candidates and importing. Another's script
 * does not. */
START_TEST(an_interpreter_without_torch_is_named)
{
    struct asked q;
    char path[300],
        facts[] = "#!/bin/sh\necho executable $0\necho version 3.11.2\necho torch none\necho cuda none\n"
                  "echo end\n";
    struct problem_oracle ours = *task_doubled.oracle;
    struct problem doubled = task_doubled;
    ours.script = NULL;
    doubled.oracle = &ours;
    task_make();
    task_put("bare", facts);
    snprintf(path, sizeof path, "%s/bare", ours.folder);
    ck_assert_int_eq(chmod(path, 0755), 0);
    const struct oracle_options options = {.problem = &doubled, .python = path};
    struct oracle *const oracle = oracle_begin(&options);
    make_question(&q, 5);
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_FAILED);
    ck_assert_msg(strstr(q.answer.text, "(Python 3.11.2) has no torch; one with PyTorch was expected"), "%s",
                  q.answer.text);
    oracle_end(oracle);
    task_remove();
}
END_TEST

START_TEST(reports_say_how_answers_are_known)
{
    static const struct oracle_quality kinds[] = {
        {.present = true},
        {.present = true, .fp64 = true},
        {.present = true, .fp64 = true, .ensemble = true, .constant = true},
        {.present = false}};
    struct config_result results[4] = {{.oracle_quality = kinds[0]},
                                       {.oracle_quality = kinds[1]},
                                       {.oracle_quality = kinds[2]},
                                       {.oracle_quality = kinds[3]}};
    struct result result = {.results = results, .result_count = 3};
    char text[512];
    ck_assert_str_eq(oracle_quality_label(&kinds[0]), "enclosed");
    ck_assert_str_eq(oracle_quality_label(&kinds[1]), "fp64");
    ck_assert_str_eq(oracle_quality_label(&kinds[2]), "ensemble");
    ck_assert_ptr_null(oracle_quality_label(&kinds[3]));
    ck_assert(oracle_quality_line(&result, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "enclosed in 1 of 3 (expected values"));
    ck_assert_ptr_nonnull(strstr(text, "ensemble in 1 of 3 ("));
    ck_assert_ptr_nonnull(strstr(text, "in 1 the right answer does not depend"));
    ck_assert_ptr_null(strstr(text, "either way"));
    results[1].oracle_quality.open = true;
    ck_assert(oracle_quality_line(&result, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "; in 1 a few elements depend on a tie that may go either way"));
    results[3].reason.cause = CAUSE_NO_REFERENCE;
    result.result_count = 4;
    ck_assert(oracle_quality_line(&result, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "1 left out"));
    result = (struct result){.results = results + 3, .result_count = 1};
    results[3].reason.cause = CAUSE_NONE;
    ck_assert(!oracle_quality_line(&result, text, sizeof text));
}
END_TEST

START_TEST(few_words_say_how_answers_are_known)
{
    struct config_result results[4] = {{.oracle_quality = {.present = true}},
                                       {.oracle_quality = {.present = true, .fp64 = true, .ensemble = true}},
                                       {.oracle_quality = {.present = true}},
                                       {.reason = {.cause = CAUSE_NO_REFERENCE}}};
    struct result result = {.results = results, .result_count = 4};
    char text[200];
    ck_assert(oracle_quality_brief(&result, text, sizeof text));
    ck_assert_str_eq(text, "enclosed in 2 of 4 configurations, ensemble in 1, none known in 1");
    result = (struct result){.results = results + 3, .result_count = 1};
    ck_assert(oracle_quality_brief(&result, text, sizeof text));
    ck_assert_str_eq(text, "none known in 1 of 1 configurations");
    results[3].reason.cause = CAUSE_NONE;
    ck_assert(!oracle_quality_brief(&result, text, sizeof text));
}
END_TEST

Suite *oracle_task_suite(void)
{
    Suite *suite = suite_create("oracle_task");
    TCase *given = tcase_create("given"), *process = tcase_create("process");
    tcase_add_test(given, given_values_decide_element_by_element);
    tcase_set_timeout(process, 60);
    tcase_add_test(process, a_process_answers);
    tcase_add_loop_test(process, its_end_is_never_a_verdict, 0, sizeof endings / sizeof *endings);
    tcase_add_test(process, who_asks_next_gets_the_process_that_is_there);
    tcase_add_loop_test(process, a_process_that_is_gone_is_nobodys_want, 0, 2);
    tcase_add_test(process, an_interpreter_that_is_none_is_named);
    tcase_add_test(process, an_interpreter_without_torch_is_named);
    tcase_add_test(given, reports_say_how_answers_are_known);
    tcase_add_test(given, few_words_say_how_answers_are_known);
    suite_add_tcase(suite, given);
    suite_add_tcase(suite, process);
    suite_add_tcase(suite, oracle_session_case());
    suite_add_tcase(suite, exact_case());
    suite_add_tcase(suite, kept_answers_case());
    return suite;
}
