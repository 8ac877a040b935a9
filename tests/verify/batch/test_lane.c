/* Lanes of a batch: whatever a lane has done before, a row's result is that of a process of its own. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suites.h"

#define SETS TINY, "--unseen", "3", "--small", "4"

/* --- lines --- */

static json_t *lines; /* an array */

static void read_lines(const char *path)
{
    char *rest = cli_text(path), *text;
    json_decref(lines);
    lines = json_array();
    while ((text = strsep(&rest, "\n")) != NULL && *text)
        json_array_append_new(lines, json_loads(text, 0, NULL));
}

static const json_t *value_of(const char *id, const char *key)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (strcmp(json_string_value(json_object_get(line, "id")), id) == 0)
            return json_object_get(line, key);
    }
    ck_abort_msg("no line of %s", id);
}

static void teardown(void)
{
    json_decref(lines);
    lines = NULL;
    cli_teardown();
}

/* --- processes --- */

static void pause_a_moment(void)
{
    const struct timespec step = {0, 20000000L};
    nanosleep(&step, NULL);
}

/* The lane of that batch with one job, once there is one. */
static pid_t lane_of(pid_t batch)
{
    char path[64];
    for (int i = 0, lane = 0; i < 500; i++, pause_a_moment()) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)batch, (int)batch);
        FILE *const in = fopen(path, "re");
        const bool found = in && fscanf(in, "%d", &lane) == 1;
        if (in)
            fclose(in);
        if (found)
            return lane;
    }
    ck_abort_msg("no child of %d", (int)batch);
}

static void await_lines(const char *path, int count)
{
    for (int i = 0, found = 0; i < 1500; i++, pause_a_moment(), found = 0) {
        for (const char *c = access(path, R_OK) == 0 ? cli_text(path) : ""; *c; c++)
            found += *c == '\n';
        if (found >= count)
            return;
    }
    ck_abort_msg("no %d lines in %s", count, path);
}

/* --- the same result --- */

/* Takes out what differs between two runs of one process each: times, and how it was called. In a lane MPFR
 * audits an enclosure once, so that later rows show fewer elements with its value. */
static void strip(json_t *value)
{
    static const char *const changing[] = {"started",       "command_line", "phase_seconds",
                                           "build_seconds", "seconds",      "object_kept",
                                           "witnessed",     "want",         "error"};
    const char *key;
    void *next;
    size_t i;
    json_t *part;
    for (i = 0; json_is_object(value) && i < sizeof changing / sizeof *changing; i++)
        json_object_del(value, changing[i]);
    json_object_foreach_safe(value, next, key, part) strip(part);
    json_array_foreach(value, i, part) strip(part);
}

static void expect_same(const char *one, const char *other)
{
    json_t *const a = cli_json(one), *const b = cli_json(other);
    strip(a);
    strip(b);
    char *const first = json_dumps(a, JSON_INDENT(1)), *const second = json_dumps(b, JSON_INDENT(1));
    size_t at = 0;
    while (first[at] && first[at] == second[at])
        at++;
    ck_assert_msg(strcmp(first, second) == 0, "%s: %.400s\n%s: %.400s", one,
                  first + (at > 200 ? at - 200 : 0), other, second + (at > 200 ? at - 200 : 0));
    free(first);
    free(second);
    json_decref(a);
    json_decref(b);
}

/* Rows with all kinds of settings, and at last two with none that matters, in one lane. All rows are groups
 * of their own, so they run in this order. */
START_TEST(a_row_after_others_has_the_result_of_a_process_of_its_own)
{
    cli_put_kernel("nap.c", "usleep(1);", "0");
    cli_put_kernel("tail.c", "usleep(1); cols = cols / 4 * 4;", "0");
    cli_put_kernel("slow.c", "usleep(300000);", "0");
    cli_put_kernel("here.c", "\n#include <only_here.h>\n", "0");
    ck_assert_int_eq(system("mkdir include && echo usleep\\(1\\)\\; >include/only_here.h"), 0);
    CLI("draw", "softmax", "slow.c", "--device", "host", "--unseen", "1");
    cli_expect(0, ""); /* it is compiled outside of its budget */
    cli_put("list",
            "{\"file\": \"here.c\", \"id\": \"i\", \"options\": {\"include-dir\": \"include\"}}\n"
            "{\"file\": \"here.c\", \"id\": \"h\", \"options\": {\"no-cache\": true}}\n"
            "{\"file\": \"nap.c\", \"id\": \"r\", \"problem\": \"rms_norm\"}\n"
            "{\"file\": \"nap.c\", \"id\": \"f\", \"options\": {\"forbid\": \"symbol:usleep\"}}\n"
            "{\"file\": \"tail.c\", \"id\": \"d\", \"options\": {\"disable-defence\": \"fresh,sandbox\"}}\n"
            "{\"file\": \"tail.c\", \"id\": \"t\", \"options\": {\"tolerance\": \"published\", "
            "\"accept\": \"limited\", \"fail-fast\": true, \"no-cache\": true}}\n"
            "{\"file\": \"slow.c\", \"id\": \"b\", \"options\": {\"budget\": 1.5}}\n"
            "{\"file\": \"nap.c\", \"options\": {\"timeout\": 20}}\n"
            "{\"file\": \"tail.c\", \"options\": {\"compile-timeout\": 600}}\n");
    CLI("batch", "softmax", "--list", "list", SETS, "--seed", "5", "--out", "out", "--results", "results",
        "--jobs", "1");
    read_lines("out");
    ck_assert_uint_eq(json_array_size(lines), 9);
    ck_assert_str_eq(json_string_value(value_of("i", "verdict")), "general");
    ck_assert_msg(json_is_null(value_of("h", "verdict")), "it finds a header of another row");
    ck_assert_str_eq(json_string_value(value_of("f", "verdict")), "forbidden");
    ck_assert_str_eq(json_string_value(value_of("b", "verdict")), "inconclusive");
    ck_assert_str_eq(json_string_value(value_of("nap.c", "verdict")), "general");
    ck_assert_int_eq(json_integer_value(value_of("nap.c", "attempts")), 1); /* not in a new lane */
    CLI("verify", "softmax", "nap.c", SETS, "--seed", "5", "--json", "n");
    expect_same(json_string_value(value_of("nap.c", "result")), "n");
    CLI("verify", "softmax", "tail.c", SETS, "--seed", "5", "--json", "t");
    expect_same(json_string_value(value_of("tail.c", "result")), "t");
}
END_TEST

/* --- one lane, and its end --- */

START_TEST(rows_go_to_one_lane_until_one_ends_it)
{
    int repeated = 0;
    cli_put_kernel("slow.c", "usleep(40000);", "0");
    cli_put("list", "{\"file\": \"slow.c\", \"id\": \"1\"}\n{\"file\": \"slow.c\", \"id\": \"2\"}\n"
                    "{\"file\": \"slow.c\", \"id\": \"3\"}\n"
                    "{\"file\": \"slow.c\", \"id\": \"u\", \"options\": {\"seed\": \"x\"}}\n"
                    "{\"file\": \"slow.c\", \"id\": \"4\", \"options\": {\"no-cache\": true}}\n"
                    "{\"file\": \"slow.c\", \"id\": \"5\", \"options\": {\"no-timing\": true}}\n");
    const pid_t batch = CLI_START("batch", "softmax", "--list", "list", TINY, "--unseen", "1", "--no-explain",
                                  "--out", "out", "--jobs", "1");
    const pid_t lane = lane_of(batch);
    await_lines("out", 1);
    ck_assert_int_eq(lane_of(batch), lane);
    ck_assert_int_eq(kill(lane, SIGKILL), 0); /* in the second row, or in a later one on a busy machine */
    cli_wait(batch);
    cli_expect(1, "6 of 6 candidates: 5 general, 1 refused");
    read_lines("out");
    for (int i = 0; i < 6; i++)
        repeated += json_integer_value(json_object_get(json_array_get(lines, i), "attempts")) == 2;
    ck_assert_int_eq(repeated, 1);
    ck_assert_msg(strstr(json_string_value(value_of("u", "reason")), "--seed 'x'") != NULL, "usage");
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(lanes_end_with_a_batch_that_is_killed)
{
    cli_put_kernel("slow.c", "sleep(1);", "0");
    const pid_t batch = CLI_START("batch", "softmax", "slow.c", SETS, "--out", "out");
    const pid_t lane = lane_of(batch);
    ck_assert_int_eq(kill(batch, SIGKILL), 0);
    cli_wait(batch);
    for (int i = 0; i < 100 && kill(lane, 0) == 0; i++)
        pause_a_moment();
    ck_assert(!cli_has_children());
}
END_TEST

/* --- one seed --- */

START_TEST(rows_share_a_drawn_seed_and_resuming_keeps_it)
{
    char command[200];
    cli_put_kernel("a.c", "", "0");
    cli_put("list", "{\"file\": \"a.c\", \"id\": \"own\", \"options\": {\"seed\": 7}}\n"
                    "{\"file\": \"a.c\"}\n{\"file\": \"a.c\", \"id\": \"b\"}\n");
    CLI("batch", "softmax", "--list", "list", TINY, "--unseen", "1", "--out", "out", "--jobs", "1");
    cli_expect(0, "3 of 3 candidates: 3 general");
    read_lines("out");
    const json_int_t seed = json_integer_value(value_of("a.c", "seed"));
    ck_assert_int_ne(seed, 0);
    ck_assert_int_eq(json_integer_value(value_of("b", "seed")), seed);
    ck_assert_int_eq(json_integer_value(value_of("own", "seed")), 7);
    snprintf(command, sizeof command, "grep -v '\"id\": \"b\"' out >begun; cp out first");
    ck_assert_int_eq(system(command), 0);
    CLI("batch", "softmax", "--list", "list", TINY, "--unseen", "1", "--out", "begun", "--resume");
    cli_expect(0, "3 of 3 candidates: 3 general");
    read_lines("begun");
    ck_assert_int_eq(json_integer_value(value_of("b", "seed")), seed);
    CLI("batch", "softmax", "--list", "list", TINY, "--unseen", "1", "--out", "other");
    read_lines("other");
    ck_assert_int_ne(json_integer_value(value_of("b", "seed")), seed);
}
END_TEST

TCase *batch_lane_case(void)
{
    TCase *tests = tcase_create("batch-lane");
    tcase_add_checked_fixture(tests, cli_setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_row_after_others_has_the_result_of_a_process_of_its_own);
    tcase_add_test(tests, rows_go_to_one_lane_until_one_ends_it);
    tcase_add_test(tests, lanes_end_with_a_batch_that_is_killed);
    tcase_add_test(tests, rows_share_a_drawn_seed_and_resuming_keeps_it);
    return tests;
}
