/* The pool of waiting processes: a candidate that has lost processes is called in them, and they are
 * processes like any other. */
#include <check.h>
#include <string.h>

#include "forms_session.h"
#include "suites.h"
#include "verify/session/session_internal.h"
#include "verify/session/session_timing.h"

static const char crashes[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n    (void)stream;\n"
    "    static int called; if (rows > 4 || called > 20) abort();\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        double most = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) most = x[c] > most ? x[c] : most;\n"
    "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);\n    }\n    "
    "called++;\n    "
    "return 0;\n}\n";

static void check_line(struct form_run *run, const char *line, enum outcome outcome)
{
    struct space_error error;
    ck_assert_msg(config_parse(&run->config, problem_find("softmax"), line, "test", &error) == 0, "%s",
                  error.text);
    form_run_check(run, outcome);
}

START_TEST(who_has_lost_some_is_called_in_processes_that_wait)
{
    enum { FEW = 3, MORE = 6 };
    struct form_run run;
    process_pool_anywhere(_i == 0);
    form_run_open(&run, problem_find("softmax"), "rows=3 cols=50 input=normal seed=1", crashes, false);
    check_line(&run, "rows=3 cols=50 input=normal seed=1", OUTCOME_PASS);
    for (int i = 0; i < FEW; i++) {
        ck_assert_int_eq(run.session->worker.losses, i);
        check_line(&run, "rows=5 cols=50 input=normal seed=1", OUTCOME_CRASH);
        ck_assert_int_eq(run.session->worker.pool.count, 0);
    }
    int waited = 0;
    for (int i = 0; i < MORE; i++) {
        check_line(&run, "rows=5 cols=50 input=normal seed=1", OUTCOME_CRASH);
        waited += run.session->worker.pool.count > 0;
        check_line(&run, "rows=3 cols=50 input=normal seed=1", OUTCOME_PASS);
    }
    ck_assert_int_eq(waited > 0, _i == 0);
    process_pool_make_room(&run.session->worker, 1e15);
    ck_assert_int_eq(run.session->worker.pool.count, 0);
    check_line(&run, "rows=5 cols=50 input=normal seed=1", OUTCOME_CRASH);
    check_line(&run, "rows=3 cols=50 input=normal seed=1", OUTCOME_PASS);
    process_pool_anywhere(false);
    form_run_close(&run);
}
END_TEST

/* Half of them end when they are loaded. A replacement process does not hide such an end. */
START_TEST(an_end_while_loading_is_told_whichever_process_it_was)
{
    enum { TIMES = 16 };
    static const char source[] =
        "#include <stdint.h>\n#include <stdlib.h>\n#include <sys/random.h>\n"
        "__attribute__((constructor)) static void begin(void) { unsigned char c; getrandom(&c, 1, 0); if (c "
        "& 1) "
        "abort(); }\n"
        "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n"
        "{ (void)x, (void)y, (void)rows, (void)cols, (void)stream; abort(); }\n";
    struct form_run run;
    int loading = 0;
    process_pool_anywhere(_i == 0);
    form_run_open(&run, problem_find("softmax"), "rows=3 cols=50 input=normal seed=1", source, false);
    for (int i = 0; i < TIMES; i++) {
        check_line(&run, "rows=3 cols=50 input=normal seed=1", OUTCOME_CRASH);
        loading += strncmp(run.result.detail, "while it was being loaded: ", 27) == 0;
    }
    ck_assert_int_gt(loading, 0);
    ck_assert_int_lt(loading, TIMES);
    process_pool_anywhere(false);
    form_run_close(&run);
}
END_TEST

/* The runs after the checks have a process each, and all of these begin together. */
START_TEST(late_calls_and_timing_have_processes_that_began_together)
{
    struct form_run run;
    process_pool_anywhere(_i == 0);
    form_run_open(&run, problem_find("softmax"), "rows=3 cols=50 input=normal seed=1", crashes, false);
    check_line(&run, "rows=3 cols=50 input=normal seed=1", OUTCOME_PASS);
    session_start_ahead(run.session, 3);
    ck_assert_int_eq(run.session->worker.pool.count, _i == 0 ? 3 : 0);
    run.result = (struct config_result){.outcome = OUTCOME_PASS};
    ck_assert_int_eq(session_late(run.session, &run.config, &run.result), SESSION_OK);
    ck_assert_int_eq(run.result.outcome, OUTCOME_CRASH); /* which is its 21st call in one process */
    ck_assert_int_eq(run.session->worker.pool.count, _i == 0 ? 2 : 0);
    ck_assert_ptr_null(run.session->worker.child);
    run.result = (struct config_result){.outcome = OUTCOME_PASS};
    ck_assert_int_eq(session_time(run.session, &run.config, 0, &run.result), SESSION_OK);
    ck_assert_int_eq(run.result.outcome, OUTCOME_PASS);
    ck_assert(run.result.timing.present);
    ck_assert_int_eq(run.session->worker.pool.count, _i == 0 ? 1 : 0);
    process_pool_anywhere(false);
    form_run_close(&run);
}
END_TEST

TCase *ahead_case(void)
{
    TCase *tests = tcase_create("ahead");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, who_has_lost_some_is_called_in_processes_that_wait, 0, 2);
    tcase_add_loop_test(tests, late_calls_and_timing_have_processes_that_began_together, 0, 2);
    tcase_add_loop_test(tests, an_end_while_loading_is_told_whichever_process_it_was, 0, 2);
    return tests;
}
