/* Faulty configurations, contracts and sets; drawing and describing. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HOST "--device", "host"

static const struct {
    const char *line, *found, *expected, *hint;
} bad_lines[] = {
    {"rows=3", "cols is missing", "a value for every number axis was expected", "add cols=VALUE"},
    {"", "rows is missing", "a value for every number axis was expected", "add rows=VALUE"},
    {"rows=3 cols=5 colour=red", "unknown axis 'colour'", "softmax has rows, cols, input and seed",
     "correct the name"},
    {"rows=3 cols=5 input=red", "input=red", "expected one of normal, extreme", "choose one of these"},
    {"rows=x cols=5", "rows=x", "a whole number was expected", "rows=4099"},
    {"rows=3 cols=5 rows=4", "rows is given twice", "once was expected", "remove one"},
    {"rows 3 cols=5", "'rows'", "a pair axis=value was expected", "write pairs"},
    {"rows=0 cols=5", "rows=0", "in the contract rows is in 1..65536", "change the value"},
    {"rows=3 cols=2000000", "cols=2000000", "in the contract cols is in 1..1048576", "change the value"},
    {"rows=3 cols=5 seed=x", "seed=x", "expected", ""},
};

START_TEST(check_refuses_a_configuration_that_is_none)
{
    CLI("check", "softmax", "k.c", bad_lines[_i].line, HOST);
    cli_expect_error(2, bad_lines[_i].found, bad_lines[_i].expected, bad_lines[_i].hint);
}
END_TEST

START_TEST(check_refuses_what_a_limit_of_the_contract_excludes)
{
    CLI("check", "paged_attention", "k.c", "batch=1 heads=3 kv_heads=2 head_dim=64 page_size=16 max_len=16",
        HOST);
    cli_expect_error(2, "heads % kv_heads == 0", "heads", "");
}
END_TEST

START_TEST(a_contract_that_does_not_parse_is_refused_with_file_and_line)
{
    cli_put("bad.space", "# mine\nrows 1..\ncols 1..600\ninput normal\n");
    CLI("verify", "softmax", "k.c", HOST, "--contract", "bad.space");
    cli_expect_error(2, "bad.space:2: rows", "expected the greatest value after '..'", "write 'rows");
    cli_put("bad.space", "rows 1..64\ncols 1..600\ninput normal purple\n");
    CLI("verify", "softmax", "k.c", HOST, "--contract", "bad.space");
    cli_expect_error(2, "bad.space:3: input: found 'purple'", "expected one of normal", "write");
    cli_put("bad.space", "rows 1..64\ncols 1..600\n");
    CLI("draw", "softmax", HOST, "--contract", "bad.space");
    cli_expect_error(2, "bad.space:2: the file ends without input", "one line for every axis", "add");
    cli_put("bad.space", "rows 1..64\ndepth 1..600\ninput normal\n");
    CLI("verify", "softmax", "k.c", HOST, "--contract", "bad.space");
    cli_expect_error(2, "bad.space:2: ", "depth", "");
}
END_TEST

START_TEST(a_seen_set_that_does_not_parse_is_refused_with_file_and_line)
{
    cli_put("bad.seen", "# published\nrows=3 cols=5\nrows=3 cols\n");
    CLI("verify", "softmax", "k.c", HOST, "--seen", "bad.seen");
    cli_expect_error(2, "bad.seen:3: 'cols'", "a pair axis=value was expected", "write pairs");
    cli_put("bad.seen", "\nrows=99999 cols=5\n");
    CLI("verify", "softmax", "k.c", HOST, "--seen", "bad.seen");
    cli_expect_error(2, "bad.seen:2: rows=99999", "in the contract rows is in 1..65536", "change");
    cli_put("bad.seen", "rows=99 cols=5\n");
    CLI("verify", "softmax", "k.c", HOST, "--seen", "bad.seen", "--contract", "tiny.space");
    cli_expect_error(2, "bad.seen:1: rows=99", "in the contract rows is in 1..32", "change");
}
END_TEST

START_TEST(sets_and_contracts_that_cannot_be_read_are_refused)
{
    CLI("verify", "softmax", "k.c", HOST, "--seen", "nosuch.seen");
    cli_expect_error(2, "nosuch.seen: cannot be read", "a readable file was expected", "check the path");
    CLI("verify", "softmax", "k.c", HOST, "--contract", "nosuch.space");
    cli_expect_error(2, "nosuch.space: cannot be read", "a readable file was expected", "check the path");
    CLI("verify", "softmax", "k.c", HOST, "--seen", "/tmp");
    cli_expect_error(2, "/tmp: cannot be read", "was expected", "give a file");
}
END_TEST

/* --- draw --- */

/* A thousand of each is 2 Gflop; eight thousand of each is a thousand Gflop. */
START_TEST(caps_below_which_there_is_nothing_are_raised_up_to_a_bound)
{
    cli_put("large.space", "m 1000..1100\nn 1000..1100\nk 1000..1100\ntrans_b 0 1\ninput normal\n");
    CLI("draw", "gemm_f32", HOST, "--contract", "large.space", "--unseen", "3", "--seed", "1");
    cli_expect(0, "# unseen: ");
    ck_assert_ptr_nonnull(strstr(cli.err, " Mflop, so the caps were raised\n"));
    char *first = strdup(cli.out);
    CLI("draw", "gemm_f32", HOST, "--contract", "large.space", "--unseen", "3", "--seed", "1");
    ck_assert_str_eq(cli.out, first);
    free(first);
    CLI("draw", "gemm_f32", HOST, "--unseen", "3", "--seed", "1");
    ck_assert_ptr_null(strstr(cli.err, "so the caps were raised"));
    cli_put("huge.space", "m 8000..9000\nn 8000..9000\nk 8000..9000\ntrans_b 0 1\ninput normal\n");
    CLI("draw", "gemm_f32", HOST, "--contract", "huge.space", "--unseen", "3", "--seed", "1");
    cli_expect_error(2, "no point of the contract outside the seen set was found within",
                     "flops; at least one", "widen the");
}
END_TEST

START_TEST(the_same_seed_draws_the_same_lines_and_another_seed_others)
{
    CLI("draw", "softmax", HOST, "--unseen", "5", "--seed", "1");
    cli_expect(0, "# unseen: ");
    int lines = 0;
    for (const char *at = cli.out; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_int_eq(lines, 5);
    char *first = strdup(cli.out), *commitment = strdup(cli.err);
    CLI("draw", "softmax", HOST, "--unseen", "5", "--seed", "1");
    ck_assert_str_eq(cli.out, first);
    ck_assert_str_eq(cli.err, commitment);
    CLI("draw", "softmax", HOST, "--unseen", "5", "--seed", "2");
    ck_assert_str_ne(cli.out, first);
    free(first);
    free(commitment);
}
END_TEST

START_TEST(draw_prints_the_seen_set_the_unseen_set_or_both)
{
    CLI("draw", "softmax", HOST, "--seen", "--seed", "1");
    cli_expect(0, "# seen: published");
    cli_expect_without("# unseen: ");
    CLI("draw", "softmax", HOST, "--seed", "1", "--effort", "quick");
    cli_expect(0, "# seen: published");
    cli_expect(0, "# unseen: ");
}
END_TEST

START_TEST(verify_runs_what_draw_prints)
{
    char commitment[65];
    CLI("draw", "softmax", HOST, "--contract", "tiny.space", "--seed", "7", "--unseen", "4");
    const char *const at = strstr(cli.err, "commitment ");
    ck_assert(at != NULL && sscanf(at, "commitment %64s", commitment) == 1);
    char *line = strndup(cli.out, strcspn(cli.out, "\n"));
    cli_put_kernel("right.c", "", "0");
    CLI("check", "softmax", "right.c", line, HOST); /* with its comment, so that lines can be pasted */
    cli_expect(0, "pass: rows=");
    CLI("verify", "-v", "softmax", "right.c", HOST, "--contract", "tiny.space", "--seed", "7", "--unseen",
        "4", "--no-timing");
    cli_expect(1, commitment); /* the published set is not in this contract: nothing to compare with */
    free(line);
}
END_TEST

/* --- describe --- */

START_TEST(describe_says_what_the_contract_is)
{
    static const char *const problems[] = {"softmax", "gemm_fp8", "paged_attention"};
    char prototype[64];
    for (int p = 0; p < 3; p++) {
        CLI("describe", problems[p]);
        cli_expect(0, "axes and contract");
        cli_expect(0, "tensors");
        cli_expect(0, "declared arithmetic");
        snprintf(prototype, sizeof prototype, "int %s(const ", problems[p]);
        cli_expect(0, prototype);
        CLI("list");
        cli_expect(0, problems[p]);
    }
}
END_TEST

START_TEST(describe_says_what_each_input_class_is_for)
{
    CLI("describe", "gemm_fp8");
    cli_expect(0, "\ninput classes (and what each promises; *: one wrong element shows at any size");
    cli_expect(0, "\n  normal       random signs as published");
    cli_expect(0,
               "\n  needle     * exact sums   the same with large terms at the last k and at tile edges\n");
    CLI("describe", "softmax");
    cli_expect(0, "\n  digits       nothing      terms below half an ulp");
    CLI("describe", "topk");
    cli_expect(0, "\n  ties         exact        seven values");
}
END_TEST

START_TEST(describe_lists_derived_sizes_where_there_are_some)
{
    CLI("describe", "moe_up");
    cli_expect(0, "derived sizes (drawn with the inputs");
    cli_expect(0, "  most_rows  from tokens, experts, routing and the seed\n");
    cli_expect(0, "  least_rows from tokens, experts, routing and the seed\n");
    CLI("describe", "paged_attention");
    cli_expect(0, "  shortest   from batch, page_size, max_len, lengths and the seed\n");
    cli_expect(0, "tokens of the shortest sequence");
    CLI("describe", "softmax");
    cli_expect_without("derived");
}
END_TEST

/* The header as the first and only include, in a candidate that defines the declared function. */
static const struct {
    const char *problem, *parameters;
} trivial[] = {
    {"softmax", "const float *x, float *y, int64_t rows, int64_t cols, UNSEEN_STREAM stream"},
    {"gemm_fp8", "const unseen_e4m3 *x, const unseen_e4m3 *weight, const float *scale, "
                 "unseen_bf16 *y, int64_t m, int64_t n, int64_t k, UNSEEN_STREAM stream"},
    {"paged_attention", NULL},
};

START_TEST(the_header_compiles_as_c_and_agrees_with_a_candidate)
{
    char text[2000];
    CLI("describe", trivial[_i].problem, "--header");
    ck_assert_int_eq(cli.status, 0);
    cli_put("unseen.h", cli.out);
    snprintf(text, sizeof text, "#include \"unseen.h\"\n");
    if (trivial[_i].parameters)
        snprintf(text, sizeof text, "#include \"unseen.h\"\nint %s(%s);\n", trivial[_i].problem,
                 trivial[_i].parameters);
    cli_put("candidate.c", text);
#define STRICT " -Wall -Wextra -pedantic -Werror -fsyntax-only candidate.c"
    ck_assert_int_eq(system("cc -std=c11" STRICT), 0);
    ck_assert_int_eq(system("c++ -x c++" STRICT), 0);
}
END_TEST

/* An imported task has axes, tensors and sets. A command that needs mathematics in C refuses it. */
START_TEST(an_imported_task_is_drawn_from_and_refused_where_c_is_needed)
{
    const char *const task = cli_repository("tests/task/row_scale");
    CLI("describe", task);
    cli_expect(0, "imported task, class Model of source.py");
    CLI("draw", task, "--unseen", "5", "--seed", "4", "--device", "host");
    cli_expect(0, "rows=");
    CLI("selftest", task);
    cli_expect_error(2, "is an imported task; selftest works", "mathematics is written in C", "unseen list");
    CLI("new", "mine", "--like", task);
    cli_expect_error(2, "is an imported task; new --like works", "mathematics is written in C",
                     "unseen list");
}
END_TEST

/* NAME.task holds for one source only. */
START_TEST(a_task_whose_source_was_changed_is_refused)
{
    static const char *const names[] = {"row_scale.task", "row_scale.space", "row_scale.seen"};
    ck_assert_int_eq(mkdir("row_scale", 0755), 0);
    for (int i = 0; i < 3; i++) {
        char from[300], to[300], text[8192];
        snprintf(from, sizeof from, "tests/task/row_scale/%s", names[i]);
        snprintf(to, sizeof to, "row_scale/%s", names[i]);
        FILE *file = fopen(cli_repository(from), "r");
        ck_assert_ptr_nonnull(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        cli_put(to, text);
    }
    cli_put("row_scale/source.py", "print('another')\n");
    CLI("describe", "./row_scale");
    cli_expect_error(2, "is not the one that was imported", "expected 28c08aaab93eb757",
                     "import the task again");
}
END_TEST

TCase *cli_input_case(void)
{
    TCase *input = tcase_create("input");
    tcase_add_checked_fixture(input, cli_setup, cli_teardown);
    tcase_set_timeout(input, 60);
    tcase_add_loop_test(input, check_refuses_a_configuration_that_is_none, 0,
                        sizeof bad_lines / sizeof *bad_lines);
    tcase_add_test(input, check_refuses_what_a_limit_of_the_contract_excludes);
    tcase_add_test(input, a_contract_that_does_not_parse_is_refused_with_file_and_line);
    tcase_add_test(input, a_seen_set_that_does_not_parse_is_refused_with_file_and_line);
    tcase_add_test(input, sets_and_contracts_that_cannot_be_read_are_refused);
    tcase_add_test(input, caps_below_which_there_is_nothing_are_raised_up_to_a_bound);
    tcase_add_test(input, the_same_seed_draws_the_same_lines_and_another_seed_others);
    tcase_add_test(input, draw_prints_the_seen_set_the_unseen_set_or_both);
    tcase_add_test(input, an_imported_task_is_drawn_from_and_refused_where_c_is_needed);
    tcase_add_test(input, a_task_whose_source_was_changed_is_refused);
    tcase_add_test(input, verify_runs_what_draw_prints);
    tcase_add_test(input, describe_says_what_the_contract_is);
    tcase_add_test(input, describe_says_what_each_input_class_is_for);
    tcase_add_test(input, describe_lists_derived_sizes_where_there_are_some);
    tcase_add_loop_test(input, the_header_compiles_as_c_and_agrees_with_a_candidate, 0,
                        sizeof trivial / sizeof *trivial);
    return input;
}
