/* Documents on standard output and in pipes; unseen report. */
#include "cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema.h"

static void expect_schema(const json_t *result)
{
    char error[256];
    json_t *schema = json_load_file(cli_repository("doc/schema/result-1.schema.json"), 0, NULL);
    ck_assert_ptr_nonnull(schema);
    ck_assert_msg(schema_allows(schema, result, error, sizeof error), "%s", error);
    json_decref(schema);
}

static void expect_file_with(const char *path, const char *text)
{
    char *all = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert(getdelim(&all, &size, '\0', file) > 0);
    fclose(file);
    ck_assert_msg(strstr(all, text) != NULL, "%s has no \"%s\"", path, text);
    free(all);
}

/* One run, whose document is alone on standard output; then all reports from the stored result. */
START_TEST(a_document_stands_alone_on_standard_output_and_reports_are_made_of_it)
{
    cli_put_kernel("wrong.c", "", "cols % 2 ? 0.25 : 0");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "5", "--seed", "3", "--no-explain", "--json", "-",
        "--html", "page.html");
    ck_assert_int_eq(cli.status, 1);
    json_t *result = json_loads(cli.out, JSON_REJECT_DUPLICATES, NULL); /* one: nothing may follow */
    ck_assert_ptr_nonnull(result);
    expect_schema(result);
    json_decref(result);
    ck_assert_ptr_nonnull(strstr(cli.err, "specialized: "));
    expect_file_with("page.html", "<h1 class=\"bad\">specialized</h1>");
    cli_put("r.json", cli.out);

    CLI("report", "r.json");
    cli_expect(1, "specialized: ");
    cli_expect(1, "\n  unseen check softmax wrong.c 'rows=");
    ck_assert_str_eq(cli.err, "");
    CLI("report", "r.json", "r.json", "--html", "two.html", "--junit", "two.xml", "--markdown",
        "/dev/stdout");
    cli_expect(1, "| `wrong.c` | **specialized** |");
    ck_assert_int_eq(strncmp(cli.out, "### unseen: softmax\n", 20), 0);
    expect_file_with("two.html", "id=\"side-by-side\"");
    expect_file_with("two.xml", "<failure type=\"wrong\"");
    CLI("report", "r.json", "r.json");
    cli_expect(
        1, "Side by side, on configurations that both judged:\n  1  wrong.c\n    specialized; of what was ");
    cli_expect(1, "    seen    both pass 2, only the first 0, only this one 0, neither 0\n");
    cli_expect_without("\nNext:");
    CLI("report", "r.json", "--github");
    ck_assert_int_eq(strncmp(cli.out, "::error file=wrong.c,line=1,title=softmax%3A specialized::", 58), 0);
    CLI("report", "r.json", "--color", "always");
    cli_expect(1, "\033[1;31mspecialized\033[0m: ");
    CLI("report", "r.json", "--color", "red");
    cli_expect_error(2, "--color 'red'", "expected auto, always or never", "leave it out");
}
END_TEST

/* The lines of a run, and the same ones from its stored result. */
START_TEST(a_trace_is_the_same_from_a_run_and_from_its_result)
{
    cli_put("named.seen", "rows=4 cols=256  # workload=6fe24f1a calls=12\nrows=4 cols=128\n");
    ck_assert_int_eq(mkdir("kinds", 0755), 0);
    cli_put_kernel("kinds/wrong.c", "", "cols % 2 ? 0.25 : 0");
    CLI("verify", "softmax", "kinds/wrong.c", TINY, "--seen", "named.seen", "--unseen", "5", "--seed", "3",
        "--no-explain", "--no-timing", "--json", "r.json", "--trace", "run.jsonl");
    ck_assert_int_eq(cli.status, 1);
    expect_file_with("run.jsonl", "\"uuid\":\"6fe24f1a\"");
    expect_file_with("run.jsonl", "\"solution\":\"wrong\"");
    expect_file_with("run.jsonl", "\"status\":\"PASSED\"");
    expect_file_with("run.jsonl", "\"status\":\"INCORRECT_NUMERICAL\"");
    expect_file_with("r.json", "\"calls\": 12");
    CLI("report", "r.json", "--trace", "stored.jsonl");
    ck_assert_int_eq(cli.status, 1);
    ck_assert_int_eq(system("cmp run.jsonl stored.jsonl && test $(wc -l <run.jsonl) = 7"), 0);
    json_t *result = json_load_file("r.json", 0, NULL), *one;
    size_t i;
    json_array_foreach(json_object_get(result, "results"), i, one)
    {
        const double error = json_number_value(json_object_get(json_object_get(one, "errors"), "absolute"));
        const bool passes = strcmp(json_string_value(json_object_get(one, "outcome")), "pass") == 0;
        ck_assert_msg(passes ? error > 0 && error < 1e-5 : error >= 0.24, "%zu: %g", i, error);
    }
    json_decref(result);
    CLI("verify", "softmax", "kinds/wrong.c", TINY, "--trace", "kinds/wrong.c");
    cli_expect_error(2, "--trace kinds/wrong.c is the candidate", "expected a file of its own",
                     "another path");
}
END_TEST

START_TEST(a_trace_says_that_a_candidate_cannot_be_used)
{
    static const struct {
        const char *name, *text;
    } bad[] = {{"torn.c", "int softmax(\n"}, {"other.c", "int another(void) { return 0; }\n"}};
    cli_put(bad[_i].name, bad[_i].text);
    CLI("verify", "softmax", bad[_i].name, TINY, "--unseen", "5", "--seed", "3", "--trace", "t.jsonl");
    ck_assert_int_eq(cli.status, 2);
    expect_file_with("t.jsonl", "\"status\":\"COMPILE_ERROR\"");
    ck_assert_int_eq(system("test $(grep -c COMPILE_ERROR t.jsonl) = 7"), 0);
    CLI("verify", "softmax", bad[_i].name, TINY, "--trace", bad[_i].name);
    ck_assert_int_eq(cli.status, 2);
    expect_file_with(bad[_i].name, bad[_i].text);
}
END_TEST

/* An error of 2^-10 in all shapes is an arithmetic; in a few it is a fault of these. */
START_TEST(a_downgrade_is_one_in_many_configurations)
{
    static const struct {
        const char *bias;
        bool downgrade;
    } cases[] = {{"exp(x[c] - top) / sum * 0x1p-10", true},
                 {"cols == 4 ? exp(x[c] - top) / sum * 0x1p-10 : 0", false}};
    for (int i = 0; i < 2; i++) {
        cli_put_kernel("off.c", "", cases[i].bias);
        CLI("verify", "softmax", "off.c", TINY, "--unseen", "12", "--seed", "3", "--no-explain", "--json",
            "-");
        ck_assert_int_eq(cli.status, 1);
        json_t *result = json_loads(cli.out, 0, NULL);
        ck_assert_ptr_nonnull(result);
        ck_assert(json_is_true(json_object_get(result, "downgrade"))); /* "wrong" is looser than any
                                                                        * arithmetic */
        ck_assert_int_eq(strcmp(json_string_value(json_object_get(result, "fits")), "wrong") == 0,
                         !cases[i].downgrade);
        ck_assert_int_eq(strstr(cli.err, "SILENT DOWNGRADE") != NULL, cases[i].downgrade);
        json_decref(result);
    }
}
END_TEST

START_TEST(results_that_cannot_be_reported_together_are_refused)
{
    cli_put("half.json", "{\"schema\": 1, \"verdict\": ");
    CLI("report", "half.json");
    cli_expect_error(2, "half.json:1: it ends in the middle", "expected the JSON result", "cut off");
    cli_put(
        "a.json",
        "{\"schema\": 1, \"problem\": \"softmax\", \"verdict\": \"general\", \"seen\": {}, \"unseen\": {}, "
        "\"results\": []}");
    cli_put("b.json",
            "{\"schema\": 1, \"problem\": \"topk\", \"verdict\": \"general\", \"seen\": {}, \"unseen\": {}, "
            "\"results\": []}");
    CLI("report", "a.json", "b.json");
    cli_expect_error(2, "b.json: a result of topk", "expected one of softmax, as in a.json",
                     "results of one problem");
    CLI("report", "a.json", "--html", "a.json");
    cli_expect_error(2, "--html a.json is the result", "expected a file of its own", "another path");
    CLI("report", "a.json", "--html", "-", "--junit", "/dev/stdout");
    cli_expect_error(2, "--junit /dev/stdout is the HTML page", "expected a file of its own", "another path");
    CLI("report", "a.json", "--html", "nosuch/page.html");
    cli_expect_error(3, "nosuch/page.html: cannot write the report", "No such file", "create the directory");
    CLI("report", "a.json");
    cli_expect(0, "general: ");
}
END_TEST

/* All lines of the passing screen run as printed: none is refused. */
START_TEST(the_next_steps_of_a_passing_candidate_run)
{
    char command[2000];
    cli_put_kernel("right.c", "", "0");
    snprintf(command, sizeof command,
             "'%s' verify softmax right.c --device host --no-timing --contract tiny.space --seen tiny.seen "
             "--unseen 2 "
             "--seed 3 >report; test $(grep -c '^  .*unseen ' report) -ge 3 && grep '^  .*/unseen ' report "
             ">lines && "
             "while read -r line; do echo \"$line\" >one; . ./one >>said 2>&1 || exit 9; done <lines; "
             "test -s baseline.json && test -s unseen.html && grep -q '^passed: ' said",
             cli_tool());
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* Without a reader there is an error before the run. With a reader it gets one document. */
START_TEST(a_named_pipe_never_hangs_and_gets_one_document)
{
    cli_put_kernel("right.c", "", "0");
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1", "--json", "pipe");
    cli_expect_error(3, "pipe: cannot write the report", "No such device", "start its reader first");
    ck_assert_str_eq(cli.out, "");
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1", "--json", "pipe", "--csv", "/dev/null");
    ck_assert_int_eq(cli.status, 0);
    char text[60000];
    const ssize_t got = read(reader, text, sizeof text - 1);
    ck_assert_int_gt(got, 1000);
    text[got] = '\0';
    json_t *result = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(result);
    ck_assert(json_is_false(json_object_get(result, "partial")));
    json_decref(result);
    close(reader);
}
END_TEST

/* The pipe that it writes to is closed before the first word. */
START_TEST(a_reader_that_leaves_is_no_error)
{
    char command[2000];
    cli_put_kernel("right.c", "", "0");
    snprintf(command, sizeof command,
             "{ '%s' verify softmax right.c --device host --contract tiny.space --seen tiny.seen --no-timing "
             "--unseen 1 "
             "2>err; echo $? >status; } | true",
             cli_tool());
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(system("test \"$(cat status)\" = 0 && test ! -s err"), 0);
}
END_TEST

/* Lines to paste, from the report to a shell: by a path with a blank, and by PATH. */
START_TEST(a_pasted_line_runs_as_the_program_was_called)
{
    static const char *const called[] = {"'./my tools/unseen'", "unseen"};
    char command[3000];
    cli_put_kernel("it's wrong.c", "", "cols % 2 ? 0.25 : 0");
    snprintf(command, sizeof command, "mkdir -p 'my tools' && ln -sf '%s' 'my tools/unseen'", cli_tool());
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command,
             "PATH=\"$PWD/my tools:$PATH\"; %s verify softmax \"it's wrong.c\" --device host --no-timing "
             "--contract "
             "tiny.space --seen tiny.seen --unseen 5 --seed 3 --no-explain >report; "
             "grep -F \"  %s check softmax 'it'\\''s wrong.c' 'rows=\" report >line && . ./line >pasted; "
             "test $? = 1 && grep -q '^wrong: rows=' pasted",
             called[_i], called[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* The published set of rope_cache is too much for a host, that of softmax is not. */
START_TEST(a_seen_set_that_stands_in_is_called_so)
{
    cli_put("refuses.c", "int rope_cache(void) { return 1; }\nint softmax(void) { return 1; }\n");
    CLI("verify", "rope_cache", "refuses.c", "--device", "host", "--no-timing", "--unseen", "1", "--small",
        "0", "--seed", "1", "--no-explain", "--fail-fast", "--json", "r.json");
    cli_expect(1, "that stand in for the published ones");
    expect_file_with("r.json", "\"seen_stands_in\": true");
    CLI("verify", "softmax", "refuses.c", "--device", "host", "--no-timing", "--unseen", "1", "--small", "0",
        "--seed", "1", "--no-explain", "--fail-fast", "--json", "s.json");
    cli_expect(1, "configurations that its author was given");
    expect_file_with("s.json", "\"seen_stands_in\": false");
}
END_TEST

TCase *cli_report_case(void)
{
    TCase *tcase = tcase_create("report");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_document_stands_alone_on_standard_output_and_reports_are_made_of_it);
    tcase_add_test(tcase, a_trace_is_the_same_from_a_run_and_from_its_result);
    tcase_add_loop_test(tcase, a_trace_says_that_a_candidate_cannot_be_used, 0, 2);
    tcase_add_test(tcase, a_seen_set_that_stands_in_is_called_so);
    tcase_add_test(tcase, a_downgrade_is_one_in_many_configurations);
    tcase_add_test(tcase, results_that_cannot_be_reported_together_are_refused);
    tcase_add_test(tcase, the_next_steps_of_a_passing_candidate_run);
    tcase_add_loop_test(tcase, a_pasted_line_runs_as_the_program_was_called, 0, 2);
    tcase_add_test(tcase, a_named_pipe_never_hangs_and_gets_one_document);
    tcase_add_test(tcase, a_reader_that_leaves_is_no_error);
    return tcase;
}
