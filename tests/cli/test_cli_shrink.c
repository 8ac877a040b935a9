/* unseen shrink: from any failure to the simplest one of the same kind. */
#include "cli.h"
#include "share.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEP_MS = 10, PATIENCE_STEPS = 2000 };

/* Kernels of the battery, whose fault is known. */
static const struct {
    const char *problem, *kernel, *from, *minimum;
} kernels[] = {
    {"softmax", "dropped_tail", "rows=37 cols=1000 seed=7", "wrong: rows=1 cols=1 input=normal seed=1"},
    {"softmax", "no_max", "rows=37 cols=99 input=wide seed=91", "wrong: rows=1 cols=1 input=large seed=1"},
    {"topk", "k_beyond_1024", "rows=3 n=5000 k=2000 input=ties seed=7",
     "unwritten: rows=1 n=1025 k=1025 input=normal seed=1"},
    {"topk", "refuses_large_k", "rows=3 n=5000 k=2000 seed=7",
     "refused: rows=1 n=1025 k=1025 input=normal seed=1"},
    {"paged_attention", "heads_beyond_eight",
     "batch=3 heads=64 kv_heads=4 head_dim=96 page_size=17 max_len=100 lengths=ragged input=wide seed=7",
     "unwritten: batch=1 heads=9 kv_heads=1 head_dim=64 page_size=1 max_len=1 lengths=equal "},
    {"moe_up", "experts_beyond_128",
     "tokens=600 hidden_dim=32 inter_dim=40 experts=200 routing=zipf input=integers seed=7",
     "wrong: tokens=1 hidden_dim=1 inter_dim=1 experts=129 routing=even input=normal seed=1"},
    {"kda", "columns_beyond_128", "batch=2 t=100 heads=3 dk=96 dv=192 decay=mixed beta=one input=wide seed=7",
     "unwritten: batch=1 t=1 heads=1 dk=64 dv=192 decay=published beta=sigmoid input=normal seed=1"},
    {"gemm_fp8", "dropped_even_tail", "m=30 n=64 k=700 input=integers seed=7",
     "wrong: m=1 n=1 k=2 input=normal seed=1"},
    {"gemm_bf16", "trans_b_tail", "m=30 n=70 k=70 trans_b=1 input=integers seed=7",
     "wrong: m=1 n=2 k=2 trans_b=1 input=normal seed=1"},
    {"gemm_f32", "mirrored_cube", "m=256 n=256 k=256 trans_b=1 input=integers seed=7",
     "wrong: m=2 n=2 k=2 trans_b=0 input=normal seed=1"},
    {"gemm_w4a16", "ragged_group", "m=5 n=40 k=500 group=96 input=wide seed=7",
     "wrong: m=1 n=1 k=34 group=32 zero=drawn input=normal seed=1"},
};

START_TEST(a_known_bad_kernel_shrinks_to_its_least_failure)
{
    char path[200];
    snprintf(path, sizeof path, "build/faults/%s/%s.c", kernels[_i].problem, kernels[_i].kernel);
    CLI("shrink", kernels[_i].problem, cli_repository(path), kernels[_i].from, "--device", "host");
    cli_expect(1, kernels[_i].minimum);
    cli_expect(1, "locally minimal: no single simpler step fails this way");
    ck_assert_str_eq(cli.err, "");
}
END_TEST

START_TEST(the_reproduction_line_of_a_shrunk_failure_reproduces_it)
{
    char command[2000];
    cli_put("even.space",
            "rows 3..32 tile 4\ncols 2..600 tile 4 32\ninput integers wide\nlimit cols % 2 == 0\n");
    cli_put_kernel("it's wrong.c", "", "cols > 77 ? 0.25 : 0");
    CLI("shrink", "softmax", "it's wrong.c", "rows=32 cols=600 input=wide seed=5", "--device", "host",
        "--contract", "even.space", "--timeout", "7");
    cli_expect(1, "wrong: rows=3 cols=78 input=integers seed=1");
    cli_expect(1, "  worst      y[");
    cli_expect(1, "  from       rows=32 cols=600 input=wide seed=5");
    const char *line = strstr(cli.out, "reproduce  unseen check ");
    ck_assert(line != NULL);
    line += strlen("reproduce  unseen");
    snprintf(command, sizeof command, "'%s'%.*s >again.txt", cli_tool(), (int)strcspn(line, "\n"), line);
    ck_assert(strstr(command, "--device host --contract even.space --timeout 7") != NULL);
    ck_assert_int_eq(system(command), 1 << 8); /* exit status 1 */
    ck_assert_int_eq(system("grep -q '^wrong: rows=3 cols=78 input=integers seed=1' again.txt"), 0);
}
END_TEST

/* Below 300 columns it is only wrong, below 200 it refuses: shrinking a crash must end at neither. */
START_TEST(only_the_same_outcome_counts)
{
    cli_put_kernel("three.c", "if (cols > 300) abort(); if (cols < 200) return 3;", "0.25");
    CLI("shrink", "softmax", "three.c", "rows=7 cols=512 seed=5", "--device", "host", "-q");
    ck_assert_int_eq(cli.status, 1);
    ck_assert_str_eq(cli.out, "rows=1 cols=301 input=normal seed=1\n");
    CLI("shrink", "softmax", "three.c", "rows=7 cols=256 seed=5", "--device", "host", "-q");
    ck_assert_str_eq(cli.out, "rows=1 cols=200 input=normal seed=1\n");
    CLI("shrink", "softmax", "three.c", "rows=7 cols=128 seed=5", "--device", "host", "-q");
    ck_assert_str_eq(cli.out, "rows=1 cols=1 input=normal seed=1\n");
}
END_TEST

START_TEST(what_passes_cannot_be_shrunk)
{
    cli_put_kernel("right.c", "", "0");
    CLI("shrink", "softmax", "right.c", "rows=7 cols=512 seed=5", "--device", "host");
    cli_expect_error(2, "rows=7 cols=512 input=normal seed=5 passes, 4 times of 4",
                     "on which right.c fails was expected", "unseen verify");
    ck_assert_str_eq(cli.out, "");
}
END_TEST

START_TEST(what_cannot_be_run_cannot_be_shrunk)
{
    cli_put_kernel("right.c", "", "0");
    CLI("shrink", "softmax", "right.c", "rows=65536 cols=1048576", "--device", "host");
    cli_expect_error(3, "rows=65536 cols=1048576", "that can be judged was expected", "a smaller one");
    cli_put("empty.c", "int nothing;\n");
    CLI("shrink", "softmax", "empty.c", "rows=3 cols=5", "--device", "host");
    ck_assert_int_eq(cli.status, 2);
    ck_assert(strstr(cli.err, "softmax") != NULL);
    ck_assert_str_eq(cli.out, "");
}
END_TEST

/* 6 million elements run when asked for, but shrinking takes no step of more than 5.6 million. */
START_TEST(steps_above_the_caps_of_the_machine_are_not_run)
{
    SHARE_TEST(0, 2);
    cli_put_kernel("large.c", "const int large = rows * cols > 5800000;", "large ? 0.25 : 0");
    CLI("shrink", "softmax", "large.c", "rows=100 cols=60000 seed=5", "--device", "host", "-v");
    cli_expect(1, "\nwrong: rows=100 cols=60000 input=normal seed=5");
    cli_expect(1, "locally minimal among what this machine can run");
    cli_expect(1, "  skipped    rows=100 cols=59999 input=normal seed=5");
}
END_TEST

START_TEST(by_the_published_tolerance_only_its_failures_count)
{
    cli_put_kernel("near.c", "", "cols > 77 ? 0.25 : 5e-6");
    CLI("shrink", "softmax", "near.c", "rows=7 cols=512", "--device", "host", "-q");
    ck_assert_str_eq(cli.out, "rows=1 cols=1 input=normal seed=0\n");
    CLI("shrink", "softmax", "near.c", "rows=7 cols=512", "--device", "host", "--tolerance", "published");
    cli_expect(1, "wrong: rows=1 cols=78 input=normal seed=0");
    cli_expect(1, "--tolerance published\n");
    CLI("shrink", "softmax", "near.c", "rows=7 cols=64", "--device", "host", "--tolerance", "published");
    cli_expect_error(2, "passes, 4 times of 4", "was expected", "unseen verify");
}
END_TEST

static int lines_in(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(the_number_of_runs_is_a_limit_and_its_end_is_told)
{
    cli_put_kernel("wrong.c", "", "cols > 77 ? 0.25 : 0");
    CLI("shrink", "softmax", "wrong.c", "rows=7 cols=512 seed=5", "--device", "host", "--runs", "3", "-v");
    cli_expect(1, "  shrunk     3 runs, the runs ended: with --runs a simpler one may be found");
    cli_expect(1, "  pass       rows=1 cols=1 input=normal seed=1\n"); /* every step */
    const char *const report = strstr(cli.out, "wrong: ");
    ck_assert(report != NULL);
    ck_assert_int_eq(lines_in(cli.out) - lines_in(report), 3);
    CLI("shrink", "softmax", "wrong.c", "rows=7 cols=512 seed=5", "--device", "host");
    cli_expect(1, "runs, locally minimal");
    cli_expect_without("  pass       rows");
}
END_TEST

/* The third call, which repeats the second, returns another answer: every run shows it. */
START_TEST(an_unstable_failure_is_told_to_be_one_with_its_rate)
{
    cli_put_kernel("unstable.c", "static int call; const int odd = ++call % 3 == 0;",
                   "odd && cols > 30 ? 0.25 : 0");
    CLI("shrink", "softmax", "unstable.c", "rows=7 cols=512 seed=5", "--device", "host", "--runs", "150");
    cli_expect(1, "unstable: rows=1 cols=31 input=normal seed=1");
    cli_expect(1, "10 of 10 further runs fail, 10 of them this way: a race, or memory never set");
}
END_TEST

/* Two of three runs are right: a step counts as passing only after several runs. Every third run fails, in
 * all of its calls. Each run calls the kernel with one draw, then with another one, so that every other
 * change of the first element begins a run. Neither seed 2 nor 1 has a fourth call. */
START_TEST(a_failure_that_comes_and_goes_is_asked_for_again)
{
    cli_put_kernel("rare.c",
                   "static float last; static int changes; changes += x[0] != last; last = x[0]; "
                   "const int rare = (changes - 1) / 2 % 3 == 2;",
                   "rare && cols > 30 ? 0.25 : 0");
    CLI("shrink", "softmax", "rare.c", "rows=7 cols=512 seed=2", "--device", "host", "--runs", "150");
    cli_expect(1, "wrong: rows=1 cols=31 input=normal seed=1");
    cli_expect(1, "3 of 10 further runs fail, 3 of them this way");
    CLI("shrink", "softmax", "rare.c", "rows=7 cols=512 seed=2", "--device", "host", "--runs", "9");
    cli_expect(1, "  shrunk     9 runs, the runs ended"); /* runs, not steps of several runs each */
}
END_TEST

START_TEST(bad_input_is_refused_before_anything_is_built)
{
    cli_put_kernel("right.c", "", "0");
    CLI("shrink", "softmax", "right.c");
    cli_expect_error(2, "found 2 of the arguments", "expected PROBLEM CANDIDATE CONFIGURATION",
                     "unseen shrink --help");
    CLI("shrink", "softmax", "right.c", "rows=7 cols=0", "--device", "host");
    cli_expect_error(2, "cols=0", "in the contract cols is in 1..1048576", "change the value");
    CLI("shrink", "softmax", "right.c", "rows=7 columns=5", "--device", "host");
    cli_expect_error(2, "unknown axis 'columns'", "softmax has rows, cols, input", "correct the name");
    CLI("shrink", "softmax", "right.c", "rows=7 cols=5 input=ties", "--device", "host", "--contract",
        "tiny.space");
    cli_expect_error(2, "input=ties", "one of normal integers wide", "change the value");
    CLI("shrink", "softmax", "right.c", "rows=7 cols=5", "--runs", "0");
    cli_expect_error(2, "--runs '0'", "expected a whole number from 1 to 10000", "--runs 60");
    CLI("shrink", "softmax", "right.c", "rows=7 cols=5", "--csv", "x");
    cli_expect_error(2, "unknown option '--csv'", "--runs", "unseen shrink --help");
    CLI("shrink", "softmax", "missing.c", "rows=7 cols=5", "--device", "host");
    ck_assert_int_eq(cli.status, 2);
}
END_TEST

START_TEST(ctrl_c_prints_the_simplest_failure_so_far_and_leaves_no_process)
{
    cli_put_kernel("slow.c", "usleep(50000);", "cols > 77 ? 0.25 : 0");
    const pid_t pid =
        CLI_START("shrink", "softmax", "slow.c", "rows=7 cols=512 seed=5", "--device", "host", "-v");
    for (int i = 0; i < PATIENCE_STEPS && !cli_printed("  wrong      rows=1"); i++)
        nanosleep(&(const struct timespec){0, STEP_MS * 1000000L}, NULL);
    kill(pid, SIGINT);
    cli_wait(pid);
    cli_expect(130, "\nwrong: rows=1 cols=");
    cli_expect(130, "runs, interrupted: a simpler one may still fail");
    cli_expect(130, "reproduce  unseen check softmax slow.c 'rows=1 ");
    ck_assert(strstr(cli.err, "unseen: interrupted") != NULL);
    ck_assert_msg(!cli_has_children(), "a process is left");
    ck_assert_int_ne(system("ls -d unseen-* >/dev/null 2>&1"), 0);
}
END_TEST

TCase *cli_shrink_case(void)
{
    TCase *tests = tcase_create("shrink");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_known_bad_kernel_shrinks_to_its_least_failure, 0,
                        sizeof kernels / sizeof *kernels);
    tcase_add_test(tests, the_reproduction_line_of_a_shrunk_failure_reproduces_it);
    tcase_add_test(tests, only_the_same_outcome_counts);
    tcase_add_test(tests, what_passes_cannot_be_shrunk);
    tcase_add_test(tests, what_cannot_be_run_cannot_be_shrunk);
    tcase_add_test(tests, steps_above_the_caps_of_the_machine_are_not_run);
    tcase_add_test(tests, by_the_published_tolerance_only_its_failures_count);
    tcase_add_test(tests, the_number_of_runs_is_a_limit_and_its_end_is_told);
    tcase_add_test(tests, an_unstable_failure_is_told_to_be_one_with_its_rate);
    tcase_add_test(tests, a_failure_that_comes_and_goes_is_asked_for_again);
    tcase_add_test(tests, bad_input_is_refused_before_anything_is_built);
    tcase_add_test(tests, ctrl_c_prints_the_simplest_failure_so_far_and_leaves_no_process);
    return tests;
}
