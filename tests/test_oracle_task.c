/* Judging an imported task's outputs: by values that are given, and by those of a process that computes them. Most tests have
 * a stand-in for that process, tests/python/fixture_oracle.py, which needs a Python without torch; one has the real one. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forms_session.h"
#include "reference/given.h"
#include "reports/told.h"
#include "skip.h"
#include "suites.h"
#include "verify/device/memory.h"
#include "verify/oracle/oracle.h"

/* --- a task: y = 2 x, and where x is greatest --- */

enum { X, Y, AT, N = 37 };

static const struct axis axes[] = {
    {"n", AXIS_NUMBER, NULL, "elements"}, {"input", AXIS_CHOICE, NULL, "how x is drawn"}, {0}};
static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                        {"y", DTYPE_F32, TENSOR_OUTPUT, "[n]"},
                                        {"at", DTYPE_I64, TENSOR_OUTPUT, "[1]"},
                                        {0}};
static const struct argument arguments[] = {{"n", ARGUMENT_I64}, {0}};
static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}}},
    {"ties", DATA_ANY, "all alike", .fill = {[X] = {.kind = FILL_UNIFORM, .a = 1, .b = 1}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t n = config_value(config, "n");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {n},
        .tensor = {{.rank = 1, .dim = {n}}, {.rank = 1, .dim = {n}}, {.rank = 1, .dim = {1}}},
        .flops = (double)n,
        .bytes = 8.0 * (double)n};
    return 0;
}

static char folder[64];
static struct problem_task task = {folder, "how.task", "tests/python/fixture_oracle.py"};
static const struct problem doubled = {.name = "doubled",
                                       .summary = "y = 2 x",
                                       .arithmetic = "fp32",
                                       .axes = axes,
                                       .tensors = tensors,
                                       .arguments = arguments,
                                       .classes = classes,
                                       .arithmetic_class = ARITHMETIC_F32,
                                       .published_atol = 1e-4,
                                       .published_rtol = 1e-4,
                                       .instantiate = instantiate,
                                       .task = &task};

static void put_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_task(void)
{
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_task(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static bool has_python(void)
{
    return system("python3 -I -c 'import mmap' >/dev/null 2>&1") == 0;
}

/* --- judging by given values --- */

static const double right[] = {1, -2, 0, NAN, INFINITY, 1e30, 3, 4};
static const double allowed[] = {1e-6, 1e-6, 0, 0, 0, 1e23, INFINITY, 1e-6};
enum { GIVEN = sizeof right / sizeof *right };

/* One element of right ones is `value`; which ones are wrong then. */
static void judge_one(int at, float value, struct judge_report *report, unsigned char *wrong)
{
    float got[GIVEN];
    for (int i = 0; i < GIVEN; i++)
        got[i] = (float)right[i];
    got[at] = value;
    memset(wrong, 0, GIVEN);
    const struct judge_request request = {.problem = &doubled,
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
        bool wrong, unwritten, published; /* NaN is wrong for the published check, whatever is wanted */
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
        {7, poison(), true, true, true},
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
    const struct oracle_options options = {.problem = &doubled, .threads = 1, .seconds = 5};
    put_file("how.task", how);
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
    if (!has_python())
        SKIP_TEST("no python3");
    make_task();
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
    /* the same again is not asked; another index is */
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].relative, 2);
    q.at = 3;
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].relative, 3);
    q.x[2] += 1;
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_OK);
    ck_assert_double_eq(q.answer.output[Y].want[2], 2.0 * q.x[2]);
    oracle_end(oracle);
    remove_task();
}
END_TEST

static const struct {
    const char *how;
    enum oracle_status status;
    const char *says;
} endings[] = {
    {"exits", ORACLE_FAILED, "ended with status 7; its last words: the last word"},
    {"dies", ORACLE_FAILED, "signal 11"},
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
    if (!has_python())
        SKIP_TEST("no python3");
    const struct oracle_options options = {.problem = &doubled,
                                           .threads = 1,
                                           .seconds = strcmp(endings[_i].how, "hangs") == 0 ? 2 : 60,
                                           .memory = (double)(256 << 20)};
    make_task();
    put_file("how.task", endings[_i].how);
    struct oracle *oracle = oracle_begin(&options);
    make_question(&q, 5);
    const enum oracle_status status = oracle_ask(oracle, &q.question, &q.answer);
    ck_assert_msg(status == endings[_i].status && strstr(q.answer.text, endings[_i].says), "%d: %s",
                  (int)status, q.answer.text);
    /* and the next question has a process again */
    put_file("how.task", "honest");
    make_question(&q, 7);
    if (status != ORACLE_UNTOLD && strcmp(endings[_i].how, "babbles") != 0)
        ck_assert_msg(oracle_ask(oracle, &q.question, &q.answer) == ORACLE_OK, "%s", q.answer.text);
    oracle_end(oracle);
    remove_task();
}
END_TEST

START_TEST(an_interpreter_that_is_none_is_named)
{
    struct asked q;
    const struct oracle_options options = {.problem = &doubled, .python = "/bin/true"};
    const struct oracle_options absent = {.problem = &doubled, .python = "no-such-python"};
    struct oracle *oracle = oracle_begin(&options);
    make_question(&q, 5);
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_FAILED);
    ck_assert_ptr_nonnull(strstr(q.answer.text, "/bin/true is no Python"));
    oracle_end(oracle);
    oracle = oracle_begin(&absent);
    ck_assert_int_eq(oracle_ask(oracle, &q.question, &q.answer), ORACLE_FAILED);
    ck_assert_ptr_nonnull(strstr(q.answer.text, "--python PATH"));
    oracle_end(oracle);
}
END_TEST

/* --- a session --- */

/* A candidate for the task, `after` behind honest work. */
#define DOUBLED(after)                                                                                       \
    "#include <stdint.h>\n#include <string.h>\n"                                                             \
    "int doubled(const float *x, float *y, int64_t *at, int64_t n, void *stream)\n"                          \
    "{ *at = 0; for (int64_t i = 0; i < n; i++) { y[i] = 2 * x[i]; if (x[i] >= x[*at]) *at = i; }\n" after   \
    " return 0; }\n"

static const struct {
    const char *how, *line, *source;
    enum outcome outcome;
    const char *detail;
    bool witnessed;
} candidates[] = {
    {"honest", "n=700 input=normal seed=3", DOUBLED(""), OUTCOME_PASS, ""},
    {"honest", "n=700 input=ties seed=3", DOUBLED(""), OUTCOME_PASS, ""}, /* the last of equals is as right */
    {"honest", "n=700 input=normal seed=3", DOUBLED("y[n - 1] = 0;"), OUTCOME_WRONG,
     "1 of 700 elements of y wrong, the first at [699]", true},
    {"graphless", "n=700 input=normal seed=3", DOUBLED("y[n - 1] = 0;"), OUTCOME_WRONG,
     "1 of 700 elements of y wrong, the first at [699]", false},
    {"honest", "n=700 input=normal seed=3", DOUBLED("*at = (*at + 1) % n;"), OUTCOME_WRONG,
     "1 of 1 elements of at wrong"},
    {"honest", "n=700 input=normal seed=3", DOUBLED("*at = n;"), OUTCOME_WRONG, "of at wrong"},
    {"untold", "n=700 input=normal seed=3", DOUBLED(""), OUTCOME_SKIPPED, "three samples say nothing"},
};

START_TEST(a_session_asks)
{
    struct form_run run;
    if (!has_python())
        SKIP_TEST("no python3");
    make_task();
    put_file("how.task", candidates[_i].how);
    form_run_open(&run, &doubled, candidates[_i].line, candidates[_i].source, false);
    form_run_check(&run, candidates[_i].outcome);
    ck_assert_msg(strstr(run.result.detail, candidates[_i].detail), "%s", run.result.detail);
    ck_assert_int_eq(run.result.worst.witnessed, candidates[_i].witnessed);
    ck_assert_int_eq(run.result.told.present, candidates[_i].outcome != OUTCOME_SKIPPED);
    ck_assert(!run.result.told.ensemble && !run.result.told.fp64 && !run.result.told.constant);
    if (candidates[_i].outcome == OUTCOME_SKIPPED)
        ck_assert_int_eq(run.result.reason.cause, CAUSE_UNTOLD);
    form_run_close(&run);
    remove_task();
}
END_TEST

START_TEST(reports_say_how_answers_are_known)
{
    static const struct told kinds[] = {{.present = true},
                                        {.present = true, .fp64 = true},
                                        {.present = true, .fp64 = true, .ensemble = true, .constant = true},
                                        {.present = false}};
    struct config_result results[4] = {
        {.told = kinds[0]}, {.told = kinds[1]}, {.told = kinds[2]}, {.told = kinds[3]}};
    struct result result = {.results = results, .result_count = 3};
    char text[512];
    ck_assert_str_eq(told_label(&kinds[0]), "enclosed");
    ck_assert_str_eq(told_label(&kinds[1]), "fp64");
    ck_assert_str_eq(told_label(&kinds[2]), "ensemble");
    ck_assert_ptr_null(told_label(&kinds[3]));
    ck_assert(told_line(&result, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "enclosed in 1 of 3 (right values"));
    ck_assert_ptr_nonnull(strstr(text, "ensemble in 1 of 3 ("));
    ck_assert_ptr_nonnull(strstr(text, "in 1 the right answer does not depend"));
    results[3].reason.cause = CAUSE_UNTOLD;
    result.result_count = 4;
    ck_assert(told_line(&result, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "1 left out"));
    result = (struct result){.results = results + 3, .result_count = 1};
    results[3].reason.cause = CAUSE_NONE;
    ck_assert(!told_line(&result, text, sizeof text));
}
END_TEST

static const struct {
    const char *how, *says;
} breaks[] = {
    {"late", "ended with status 9"},
    {"contradicts",
     "internal error: element 699 of y (n=700 input=normal seed=3), call 0: the graph in fp64 gives"},
    {"unsealed", "the graph that came is no graph"},
};

START_TEST(a_session_breaks)
{
    struct form_run run;
    if (!has_python())
        SKIP_TEST("no python3");
    make_task();
    put_file("how.task", breaks[_i].how);
    form_run_open(&run, &doubled, candidates[2].line, candidates[2].source, false);
    memset(&run.result, 0, sizeof run.result);
    ck_assert_int_eq(session_check(run.session, &run.config, &run.result), SESSION_BROKEN);
    ck_assert_msg(strstr(session_error(run.session), breaks[_i].says), "%s", session_error(run.session));
    form_run_close(&run);
    remove_task();
}
END_TEST

Suite *oracle_task_suite(void)
{
    Suite *suite = suite_create("oracle_task");
    TCase *given = tcase_create("given");
    TCase *process = tcase_create("process");
    tcase_add_test(given, given_values_decide_element_by_element);
    tcase_set_timeout(process, 60);
    tcase_add_test(process, a_process_answers);
    tcase_add_loop_test(process, its_end_is_never_a_verdict, 0, sizeof endings / sizeof *endings);
    tcase_add_test(process, an_interpreter_that_is_none_is_named);
    tcase_add_loop_test(process, a_session_asks, 0, sizeof candidates / sizeof *candidates);
    tcase_add_loop_test(process, a_session_breaks, 0, sizeof breaks / sizeof *breaks);
    tcase_add_test(given, reports_say_how_answers_are_known);
    suite_add_tcase(suite, given);
    suite_add_tcase(suite, process);
    suite_add_tcase(suite, exact_case());
    return suite;
}
