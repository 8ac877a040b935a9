/* The tool on a machine that it shares: the lease of the host, and timeouts caused by other programs. */
#include "cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verify/device/lease.h"

#define TIMED                                                                                                \
    "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--unseen", "1", "--seed", "1"

static struct lease *held;

static void hold_lease(void)
{
    char why[400];
    const struct lease_options options = {.device = "host"};
    held = lease_open(&options, why, sizeof why);
    ck_assert_msg(held != NULL, "%s", why);
    ck_assert(lease_take(held));
}

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

START_TEST(timing_waits_for_the_lease_of_another_and_says_so)
{
    cli_put_kernel("right.c", "", "0");
    hold_lease();
    const pid_t tool = CLI_START("verify", "softmax", "right.c", TIMED, "--json", "r.json");
    sleep_ms(9000);
    ck_assert(!cli_printed("general"));
    lease_close(held);
    cli_wait(tool);
    cli_expect(0, "general: ");
    ck_assert_ptr_nonnull(strstr(cli.err, "waiting for another unseen"));
    ck_assert_ptr_nonnull(strstr(cli.err, "unseen-host.lease)\n---> --no-lock"));
    json_t *result = cli_json("r.json");
    ck_assert(json_is_true(json_object_get(result, "timing_trusted")));
    json_decref(result);
}
END_TEST

START_TEST(no_lease_does_not_wait_and_neither_do_the_checks)
{
    cli_put_kernel("right.c", "", "0");
    hold_lease();
    CLI("verify", "softmax", "right.c", TIMED, "--no-lock");
    cli_expect(0, "general: ");
    CLI("verify", "softmax", "right.c", TIMED, "--no-timing");
    cli_expect(0, "general: ");
    CLI("check", "softmax", "right.c", "rows=3 cols=5 seed=91", "--device", "host", "--timing", "--no-lock");
    cli_expect(0, "median of");
    ck_assert_str_eq(cli.err, "");
    lease_close(held);
}
END_TEST

/* The checks need no ceilings, and so no lease. */
START_TEST(what_fails_in_the_checks_waits_for_nobody)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "0.5");
    hold_lease();
    CLI("check", "softmax", "wrong.c", "rows=3 cols=5 seed=91", "--device", "host", "--timing");
    cli_expect(1, "wrong: ");
    ck_assert_str_eq(cli.err, "");
    CLI("compare", "softmax", "right.c", "wrong.c", TIMED);
    cli_expect(1, "regression: ");
    ck_assert_str_eq(cli.err, "");
    lease_close(held);
}
END_TEST

START_TEST(an_interrupt_ends_the_wait_for_the_lease)
{
    cli_put_kernel("right.c", "", "0");
    hold_lease();
    const pid_t tool = CLI_START("verify", "softmax", "right.c", TIMED, "-q", "--json", "r.json");
    sleep_ms(4000);
    kill(tool, SIGINT);
    cli_wait(tool);
    ck_assert_int_eq(cli.status, 130);
    cli_expect_without("waiting for");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 2);
    json_decref(result);
    lease_close(held);
}
END_TEST

/* The kernel takes longer than --timeout and less than 30 times the baseline, also where vector units and
 * idle cores make the baseline fast. Three ways: the seen set, an unseen set that begins with a frozen
 * configuration, and a single configuration. */
static const char slow[] =
    "#include <math.h>\n#include <stdint.h>\n#include <unistd.h>\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
    "    (void)stream;\n    if (rows > 1000) usleep(200000);\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        float top = -INFINITY;\n        double sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) top = fmaxf(top, x[c]);\n"
    "        for (int64_t c = 0; c < cols; c++) sum += y[c] = expf(x[c] - top);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(y[c] / sum);\n"
    "    }\n    return 0;\n}\n";

static void expect_no_timeout(const char *config, const char *seen, const char *regress)
{
    cli_put("large.space", "rows 1..4096\ncols 1..4096\ninput normal\n");
    cli_put("large.seen", seen);
    cli_put("large.regress", regress);
    cli_put("slow.c", slow);
    CLI("verify", "softmax", "slow.c", "--device", "host", "--contract", "large.space", "--seen",
        "large.seen", "--regressions", "large.regress", "--unseen", "1", "--seed", "1", "--timeout", "0.1",
        "--no-timing");
    cli_expect(0, "general: ");
    char *note = strstr(cli.out, config);
    ck_assert_msg(note != NULL, "%s", cli.out);
    ck_assert_ptr_nonnull(strstr(note, "no answer within 0.1 s"));
    ck_assert_ptr_nonnull(strstr(note, "problem's"));
}

START_TEST(a_timeout_that_does_not_happen_alone_is_no_timeout)
{
    expect_no_timeout("note        rows=2048 cols=2048", "rows=2048 cols=2048\n", "");
    expect_no_timeout("note        rows=2047 cols=2048", "rows=3 cols=5\n",
                      "rows=2047 cols=2048 input=normal seed=1\n");
    CLI("check", "softmax", "slow.c", "rows=2047 cols=2048", "--device", "host", "--timeout", "0.1", "-q");
    ck_assert_str_eq(cli.out, "pass\n");
}
END_TEST

/* The hang is known before: a large configuration is still repeated, since the baseline takes long there. */
START_TEST(beside_a_hang_a_slow_configuration_is_no_timeout)
{
    char text[1200];
    snprintf(text, sizeof text, "%.*s    if (cols == 5) for (;;) pause();\n%s",
             (int)(strstr(slow, "    (void)stream;") - slow), slow, strstr(slow, "    (void)stream;"));
    cli_put("large.space", "rows 1..4096\ncols 1..4096\ninput normal\n");
    cli_put("large.seen", "rows=3 cols=5\nrows=2048 cols=2048\nrows=4 cols=5\n");
    cli_put("slow.c", text);
    CLI("verify", "softmax", "slow.c", "--device", "host", "--contract", "large.space", "--seen",
        "large.seen", "--unseen", "0", "--timeout", "0.1", "--no-timing", "--json", "r.json");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "timeout"), 2);
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 1);
    cli_expect(1, "note        rows=2048 cols=2048 input=normal");
    cli_expect(1, "but not when it ran alone");
    json_decref(result);
}
END_TEST

START_TEST(several_at_work_at_once_leave_a_repetition_alone)
{
    cli_put_kernel("hang.c", "if (cols > 64) for (volatile int i = 0;;) i = 0;", "0");
    CLI("verify", "softmax", "hang.c", TINY, "--unseen", "2", "--seed", "1", "--timeout", "0.5", "--jobs",
        "2", "-v", "--no-explain");
    cli_expect(1, "broken: ");
    cli_expect(1, "again when it ran alone");
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(the_tool_and_its_candidates_wait_passively)
{
    unsetenv("OMP_WAIT_POLICY"); /* from the environment of the tests */
    cli_put_kernel("asks.c",
                   "const char *policy = getenv(\"OMP_WAIT_POLICY\");\n"
                   "    if (!policy || policy[0] != 'p') return 1;",
                   "0");
    CLI("check", "softmax", "asks.c", "rows=3 cols=5 seed=91", "--device", "host", "-q");
    ck_assert_str_eq(cli.out, "pass\n");
    setenv("OMP_DISPLAY_ENV", "true", 1);
    CLI("--version");
    unsetenv("OMP_DISPLAY_ENV");
    ck_assert_msg(strstr(cli.err, "OMP_WAIT_POLICY = 'PASSIVE'") != NULL, "%s", cli.err);
}
END_TEST

/* Removes the times of a result. */
static void drop_times(json_t *value)
{
    static const char *const times[] = {
        "seconds",          "phase_seconds",  "build_seconds", "time_ms",      "geomean_gbps",
        "geomean_fraction", "fraction_low",   "fraction_high", "score",        "peaks",
        "retention",        "timing_trusted", "started",       "command_line", "object_kept"};
    const char *key;
    json_t *inner;
    void *next;
    size_t i;
    for (size_t t = 0; json_is_object(value) && t < sizeof times / sizeof *times; t++)
        json_object_del(value, times[t]);
    json_object_foreach_safe(value, next, key, inner) drop_times(inner);
    json_array_foreach(value, i, inner) drop_times(inner);
}

static json_t *verify_timeless(const char *candidate, const char *file)
{
    CLI("verify", "softmax", candidate, TINY, "--unseen", "12", "--seed", "5", "--json", file);
    ck_assert_int_eq(cli.status, 1);
    json_t *result = cli_json(file);
    drop_times(result);
    return result;
}

/* A failure whose rule and smallest configuration take many runs. */
START_TEST(beside_six_busy_loops_the_same_seed_gives_the_same_report)
{
    pid_t loop[6];
    cli_put_kernel("tail.c", "", "c >= cols - cols % 8 && r % 3 == 1 ? 0.1 : 0");
    json_t *const idle = verify_timeless("tail.c", "idle.json");
    for (int i = 0; i < 6; i++) {
        loop[i] = fork();
        if (loop[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile int count = 0;; count++)
                ;
        }
    }
    json_t *const busy = verify_timeless("tail.c", "busy.json");
    for (int i = 0; i < 6; i++) {
        kill(loop[i], SIGKILL);
        waitpid(loop[i], NULL, 0);
    }
    ck_assert(json_is_object(json_object_get(idle, "diagnosis")));
    if (!json_equal(idle, busy))
        ck_abort_msg("%s\n%s", json_dumps(idle, JSON_INDENT(1)), json_dumps(busy, JSON_INDENT(1)));
    json_decref(idle);
    json_decref(busy);
}
END_TEST

TCase *cli_busy_case(void)
{
    TCase *tests = tcase_create("busy machines");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 200);
    tcase_add_test(tests, timing_waits_for_the_lease_of_another_and_says_so);
    tcase_add_test(tests, no_lease_does_not_wait_and_neither_do_the_checks);
    tcase_add_test(tests, what_fails_in_the_checks_waits_for_nobody);
    tcase_add_test(tests, an_interrupt_ends_the_wait_for_the_lease);
    tcase_add_test(tests, a_timeout_that_does_not_happen_alone_is_no_timeout);
    tcase_add_test(tests, beside_a_hang_a_slow_configuration_is_no_timeout);
    tcase_add_test(tests, several_at_work_at_once_leave_a_repetition_alone);
    tcase_add_test(tests, the_tool_and_its_candidates_wait_passively);
    tcase_add_test(tests, beside_six_busy_loops_the_same_seed_gives_the_same_report);
    return tests;
}
