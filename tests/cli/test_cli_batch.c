/* unseen batch: verdicts of verify, one line each, whatever the company and however it ends. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETS TINY, "--unseen", "4", "--seed", "5"
enum { TWELVE = 12, LINES = 40 };

static json_t *line[LINES];

static void drop_lines(void)
{
    for (int i = 0; i < LINES; i++) {
        json_decref(line[i]);
        line[i] = NULL;
    }
}

static void teardown(void)
{
    drop_lines();
    cli_teardown();
}

/* Reads JSON lines into line[]; returns their number. */
static int read_lines(const char *path)
{
    char *rest = cli_text(path), *text;
    int count = 0;
    drop_lines();
    while ((text = strsep(&rest, "\n")) != NULL && *text) {
        ck_assert_int_lt(count, LINES);
        line[count] = json_loads(text, 0, NULL);
        ck_assert_msg(line[count] != NULL, "no JSON: %s", text);
        count++;
    }
    return count;
}

static const json_t *line_of(const char *id)
{
    for (int i = 0; i < LINES && line[i]; i++)
        if (strcmp(json_string_value(json_object_get(line[i], "id")), id) == 0)
            return line[i];
    ck_abort_msg("no line of %s", id);
}

static void expect_text(const char *id, const char *key, const char *part)
{
    const char *const value = json_string_value(json_object_get(line_of(id), key));
    ck_assert_msg(value && strstr(value, part), "%s of %s is %s", key, id, value ? value : "null");
}

static void pause_ms(long ms)
{
    const struct timespec step = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&step, NULL);
}

/* A child of that process other than `but`, once there is one. */
static pid_t await_child(pid_t parent, pid_t but)
{
    char path[64];
    for (int i = 0; i < 500; i++, pause_ms(20)) {
        int child = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
        FILE *const in = fopen(path, "re");
        if (in && fscanf(in, "%d", &child) != 1)
            child = 0;
        if (in)
            fclose(in);
        if (child > 0 && child != but)
            return child;
    }
    ck_abort_msg("no child of %d", (int)parent);
}

static void await_text(const char *path, const char *text)
{
    for (int i = 0; i < 1000 && (access(path, R_OK) != 0 || !strstr(cli_text(path), text)); i++)
        pause_ms(20);
    ck_assert_msg(strstr(cli_text(path), text) != NULL, "no %s in %s", text, path);
}

/* --- the same verdicts --- */

/* Seven honest kernels and five that fail in different ways. */
static void put_twelve(void)
{
    static const char *const honest[] = {"kahan",        "pairwise",   "blocked_poly",
                                         "column_split", "double_sum", "online_lanes"};
    char command[1500];
    for (int i = 0; i < 6; i++) {
        snprintf(command, sizeof command, "mkdir -p k && cp %s/%s.c k/",
                 cli_repository("problems/softmax/honest"), honest[i]);
        ck_assert_int_eq(system(command), 0);
    }
    cli_put_kernel("k/right.c", "", "0");
    cli_put_kernel("k/biased.c", "", "1e-3");
    cli_put_kernel("k/crash.c", "if (cols != 64 && cols != 256) *(volatile int *)8 = 1;", "0");
    cli_put_kernel("k/refuse.c", "if (cols != 64 && cols != 256) return 1;", "0");
    cli_put_kernel("k/shapes.c", "if (cols != 64 && cols != 256) return 0;", "0");
    cli_put_kernel("k/tail.c", "cols = cols / 4 * 4;", "0");
}

/* Outcome by outcome, and what follows from them. */
static void expect_same(const json_t *one, const json_t *other, const char *file)
{
    static const char *const keys[] = {"verdict", "rule", "minimal", "seed", "commitment"};
    const json_t *const results = json_object_get(one, "results"), *const others =
                                                                       json_object_get(other, "results");
    ck_assert_uint_eq(json_array_size(results), json_array_size(others));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_msg(json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i])), "%s: %s",
                      file, keys[i]);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *const a = json_array_get(results, i), *const b = json_array_get(others, i);
        ck_assert_str_eq(json_string_value(json_object_get(a, "config")),
                         json_string_value(json_object_get(b, "config")));
        ck_assert_msg(json_equal(json_object_get(a, "outcome"), json_object_get(b, "outcome")), "%s: %s",
                      file, json_string_value(json_object_get(a, "config")));
    }
}

START_TEST(each_verdict_is_that_of_verify)
{
    put_twelve();
    CLI("batch", "softmax", "k", SETS, "--out", "out.jsonl", "--results", "results", "--jobs", "3");
    cli_expect(1, "12 of 12 candidates: 7 general, 1 limited, 3 specialized, 1 broken");
    ck_assert_int_eq(read_lines("out.jsonl"), TWELVE);
    json_t *const all[TWELVE] = {line[0], line[1], line[2], line[3], line[4],  line[5],
                                 line[6], line[7], line[8], line[9], line[10], line[11]};
    for (int i = 0; i < TWELVE; i++) {
        const char *const file = json_string_value(json_object_get(all[i], "file"));
        CLI("verify", "softmax", file, SETS, "--json", "r.json");
        ck_assert_int_eq(cli.status, (int)json_integer_value(json_object_get(all[i], "status")));
        json_t *const result = cli_json("r.json");
        json_t *const kept = cli_json(json_string_value(json_object_get(all[i], "result")));
        ck_assert(json_equal(json_object_get(result, "verdict"), json_object_get(all[i], "verdict")));
        expect_same(result, kept, file);
        json_decref(result);
        json_decref(kept);
    }
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(rows_of_a_list_have_options_and_lines_go_to_standard_output)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("biased.c", "", "1e-3");
    cli_put("list", "{\"file\": \"right.c\", \"options\": {\"seed\": 7}}\n"
                    "{\"file\": \"biased.c\", \"id\": \"b\", \"problem\": \"softmax\", \"options\": "
                    "{\"no-explain\": true}}\n");
    CLI("batch", "softmax", "--list", "list", SETS, "--jobs", "1");
    ck_assert_int_eq(cli.status, 1);
    ck_assert_msg(strstr(cli.err, "1 general, 1 broken") && strstr(cli.err, "1  softmax, wrong: b"), "%s",
                  cli.err);
    cli_put("lines", cli.out);
    ck_assert_int_eq(read_lines("lines"), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(line_of("right.c"), "seed")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(line_of("b"), "seed")), 5);
    expect_text("b", "verdict", "broken");
    expect_text("b", "outcome", "wrong");
    expect_text("b", "reason", "elements of y wrong");
    ck_assert(json_is_null(json_object_get(line_of("b"), "rule")));
    const json_t *const scores = json_object_get(json_object_get(line_of("right.c"), "scores"), "unseen");
    ck_assert_double_eq(json_number_value(json_object_get(scores, "pass_rate")), 1);
}
END_TEST

/* --- bad company --- */

START_TEST(a_candidate_that_misbehaves_has_a_line_of_its_own)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("crash.c", "*(volatile int *)8 = 1;", "0");
    cli_put_kernel("hang.c", "for (;;) sleep(1);", "0");
    cli_put_kernel(
        "eat.c",
        "for (;;) { char *p = malloc(1 << 20); for (int i = 0; p && i < 1 << 20; i += 4096) p[i] = 1; }",
        "0");
    cli_put("text.c", "int x(\n");
    cli_put("list",
            "{\"file\": \"text.c\"}\n{\"file\": \"crash.c\"}\n{\"file\": \"hang.c\"}\n{\"file\": \"eat.c\"}\n"
            "{\"file\": \"right.c\"}\n{\"file\": \"right.c\", \"id\": \"q\", \"problem\": \"no_such\"}\n"
            "{\"file\": \"right.c\", \"id\": \"o\", \"options\": {\"seed\": \"x\"}}\n");
    CLI("batch", "softmax", "--list", "list", TINY, "--unseen", "1", "--no-explain", "--timeout", "0.2",
        "--memory", "200M", "--out", "out.jsonl", "--jobs", "2");
    cli_expect(1, "7 of 7 candidates: 1 general, 3 broken, 3 refused");
    ck_assert_int_eq(read_lines("out.jsonl"), 7);
    expect_text("crash.c", "outcome", "crash");
    expect_text("hang.c", "outcome", "timeout");
    expect_text("eat.c", "verdict", "broken");
    expect_text("right.c", "verdict", "general");
    expect_text("text.c", "reason", "text.c does not compile");
    expect_text("q", "reason", "no_such");
    expect_text("o", "reason", "--seed 'x'");
    ck_assert(json_is_null(json_object_get(line_of("q"), "verdict")));
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(a_killed_verify_is_repeated_once_and_then_inconclusive)
{
    cli_put_kernel("slow.c", "usleep(300000);", "0");
    cli_put_kernel("right.c", "", "0");
    const pid_t batch =
        CLI_START("batch", "softmax", "slow.c", "right.c", SETS, "--out", "out.jsonl", "--jobs", "1");
    const pid_t first = await_child(batch, 0);
    ck_assert_int_eq(kill(first, SIGKILL), 0);
    const pid_t second = await_child(batch, first);
    await_text("out.jsonl", "right.c");
    ck_assert_int_eq(kill(await_child(batch, second), SIGKILL), 0); /* a row is repeated in a new process */
    cli_wait(batch);
    cli_expect(3, "2 of 2 candidates: 1 general, 1 inconclusive");
    ck_assert_int_eq(read_lines("out.jsonl"), 2);
    expect_text("slow.c", "verdict", "inconclusive");
    expect_text("slow.c", "reason", "killed by signal 9");
    ck_assert_int_eq(json_integer_value(json_object_get(line_of("slow.c"), "attempts")), 2);
    ck_assert(!cli_has_children());
    CLI("batch", "softmax", "slow.c", "right.c", SETS, "--out", "out.jsonl", "--jobs", "1", "--resume");
    cli_expect(0, "2 of 2 candidates: 2 general");
    ck_assert_int_eq(read_lines("out.jsonl"), 3);
}
END_TEST

/* --- the end before the end --- */

static const int signals[] = {SIGINT, SIGTERM, SIGKILL};

START_TEST(an_ended_batch_is_resumed_without_loss)
{
    cli_put_kernel("a.c", "", "0");
    cli_put_kernel("slow.c", "usleep(200000);", "0");
    cli_put_kernel("z.c", "", "1e-3");
    const pid_t batch =
        CLI_START("batch", "softmax", "a.c", "slow.c", "z.c", SETS, "--out", "out.jsonl", "--jobs", "1");
    await_text("out.jsonl", "\n");
    await_child(batch, 0);
    ck_assert_int_eq(kill(batch, signals[_i]), 0);
    cli_wait(batch);
    if (signals[_i] == SIGKILL)
        ck_assert_int_eq(cli.status, 1000 + SIGKILL);
    else
        cli_expect_error(130, "interrupted", "1 of 3 candidates are done", "--resume goes on");
    ck_assert(!cli_has_children());
    ck_assert_int_eq(read_lines("out.jsonl"), 1);
    CLI("batch", "softmax", "a.c", "slow.c", "z.c", SETS, "--out", "out.jsonl", "--resume");
    cli_expect(1, "3 of 3 candidates: 2 general, 1 broken");
    ck_assert_int_eq(read_lines("out.jsonl"), 3);
    CLI("batch", "softmax", "a.c", "slow.c", "z.c", SETS, "--out", "out.jsonl", "--resume", "--no-explain");
    cli_expect_error(2, "out.jsonl:1: found the options", "\"--no-explain\"", "give another --out");
}
END_TEST

START_TEST(a_full_disk_is_told)
{
    cli_put_kernel("a.c", "", "0");
    CLI("batch", "softmax", "a.c", SETS, "--out", "/dev/full");
    cli_expect_error(3, "cannot write the line of a.c to /dev/full", "No space left", "--resume goes on");
    CLI("batch", "softmax", "a.c", SETS, "--results", "none/results");
    cli_expect_error(3, "cannot make the folder none/results", "No such file", "another path");
}
END_TEST

START_TEST(wrong_use_is_refused_before_anything_runs)
{
    cli_put_kernel("a.c", "", "0");
    CLI("batch");
    cli_expect_error(2, "found no candidate", "expected some", "--list FILE");
    CLI("batch", "softmax", "a.c", "--resume");
    cli_expect_error(2, "--resume without --out", "the file to go on with", "--out FILE");
    CLI("batch", "softmax", "a.c", "missing.c");
    cli_expect_error(2, "found missing.c, which cannot be read", "expected a candidate", "correct the path");
    CLI("batch", "softmax", "a.c", "a.c");
    cli_expect_error(2, "the id 'a.c' a second time", "expected a new one", "\"id\" of its own");
    CLI("batch", "sofmax", "a.c");
    cli_expect_error(2, "unknown problem 'sofmax'", "expected one of softmax", "unseen list");
    CLI("batch", "softmax", "--list", "none");
    cli_expect_error(2, "cannot read none", "expected a list of JSON lines", "check the path");
    CLI("batch", "softmax", "a.c", "--json", "r.json");
    cli_expect_error(2, "unknown option '--json'", "expected --device", "unseen batch --help");
}
END_TEST

TCase *cli_batch_case(void)
{
    TCase *batch = tcase_create("batch");
    tcase_add_checked_fixture(batch, cli_setup, teardown);
    tcase_set_timeout(batch, 240);
    tcase_add_test(batch, each_verdict_is_that_of_verify);
    tcase_add_test(batch, rows_of_a_list_have_options_and_lines_go_to_standard_output);
    tcase_add_test(batch, a_candidate_that_misbehaves_has_a_line_of_its_own);
    tcase_add_test(batch, a_killed_verify_is_repeated_once_and_then_inconclusive);
    tcase_add_loop_test(batch, an_ended_batch_is_resumed_without_loss, 0, sizeof signals / sizeof *signals);
    tcase_add_test(batch, a_full_disk_is_told);
    tcase_add_test(batch, wrong_use_is_refused_before_anything_runs);
    return batch;
}
