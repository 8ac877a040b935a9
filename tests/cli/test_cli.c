/* The command line: wrong commands, options and values; help. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suites.h"
#include "skip.h"

#define FILES "softmax", "k.c", "--device", "host"

START_TEST(without_a_command_the_usage_goes_to_standard_error)
{
    cli_run((const char *const[]){NULL});
    ck_assert_int_eq(cli.status, 2);
    ck_assert_str_eq(cli.out, "");
    ck_assert(strstr(cli.err, "Usage: unseen COMMAND") != NULL);
}
END_TEST

START_TEST(an_unknown_command_names_the_known_ones)
{
    CLI("frobnicate");
    cli_expect_error(2, "unknown command 'frobnicate'",
                     "expected list, describe, draw, export, verify, check, shrink, cover, pin",
                     "unseen --help");
}
END_TEST

START_TEST(help_has_many_names)
{
    CLI("verify", "--help");
    cli_expect(0, "--unseen-set=FILE");
    char *whole = strdup(cli.out);
    CLI("verify", "-h");
    cli_expect(0, whole);
    CLI("verify", "softmax", "k.c", "-h");
    cli_expect(0, whole);
    CLI("help", "verify");
    cli_expect(0, whole);
    CLI("help");
    cli_expect(0, "Usage: unseen COMMAND");
    CLI("-h");
    cli_expect(0, "Usage: unseen COMMAND");
    CLI("help", "frobnicate");
    cli_expect_error(2, "unknown command 'frobnicate'", "expected list", "unseen --help");
    CLI("describe", "softmax", "--header");
    cli_expect(0, "softmax");
    cli_expect_without("Usage");
    free(whole);
}
END_TEST

START_TEST(an_unknown_problem_names_the_known_ones)
{
    CLI("verify", "sofmax", "k.c");
    cli_expect_error(2, "unknown problem 'sofmax'", "expected one of softmax, gemm_fp8, paged_attention",
                     "unseen list");
    CLI("describe", "sofmax");
    cli_expect_error(2, "unknown problem 'sofmax'", "expected one of", "unseen list");
    CLI("draw", "sofmax");
    cli_expect_error(2, "unknown problem 'sofmax'", "expected one of", "unseen list");
}
END_TEST

START_TEST(an_unknown_option_names_those_of_the_command)
{
    CLI("verify", FILES, "--frob");
    cli_expect_error(2, "unseen verify: unknown option '--frob'", "expected --device, --seen,",
                     "unseen verify --help");
    CLI("draw", "softmax", "-z");
    cli_expect_error(2, "unknown option '-z'", "--effort, --seed, --python or --help", "unseen draw --help");
    CLI("check", "softmax", "k.c", "rows=1 cols=1", "--csv", "x");
    cli_expect_error(2, "unknown option '--csv'", "expected --device", "unseen check --help");
    CLI("list", "-v");
    cli_expect_error(2, "unknown option '-v'", "expected --help", "unseen list --help");
}
END_TEST

START_TEST(an_option_without_its_value_or_with_one_too_many_is_refused)
{
    CLI("verify", FILES, "--json");
    cli_expect_error(2, "--json has no value", "expected --json FILE", "add the value");
    CLI("verify", FILES, "--quiet=3");
    cli_expect_error(2, "'--quiet=3'", "--quiet takes no value", "leave out the value");
}
END_TEST

/* Each option, an invalid value, and the expected message. */
static const struct {
    const char *option, *value, *expected, *hint;
} bad_values[] = {
    {"--effort", "max", "expected quick, standard, deep or reward", "--unseen N"},
    {"--effort", "", "expected quick, standard, deep or reward", "--unseen N"},
    {"--unseen", "-3", "expected a whole number from 0 to 1000000", "--unseen 40"},
    {"--unseen", "1e3", "expected a whole number from 0 to 1000000", "--unseen 40"},
    {"--unseen", "1000001", "expected a whole number from 0 to 1000000", "--unseen 40"},
    {"--seed", "words", "expected a whole number from 0 to 9007199254740991", "--seed 1"},
    {"--seed", "-1", "expected a whole number from 0 to 9007199254740991", "--seed 1"},
    {"--seed", "9007199254740992", "expected a whole number from 0 to", "--seed 1"},
    {"--jobs", "0", "expected a whole number from 1 to 64", "--jobs 2"},
    {"--jobs", "500", "expected a whole number from 1 to 64", "--jobs 2"},
    {"--timeout", "0", "expected seconds above 0 and at most 86400", "--timeout 5"},
    {"--timeout", "nan", "expected seconds above 0 and at most 86400", "--timeout 5"},
    {"--timeout", "5s", "expected seconds above 0 and at most 86400", "--timeout 5"},
    {"--budget", "-1", "expected seconds above 0 and at most 86400", "--budget 600"},
    {"--budget", "1e99", "expected seconds above 0 and at most 86400", "--budget 600"},
    {"--budget", "nan", "expected seconds above 0 and at most 86400", "--budget 600"},
    {"--budget", "", "expected seconds above 0 and at most 86400", "--budget 600"},
    {"--memory", "abc", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "0", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "-8G", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "8GB", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "15M", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "1e30T", "from 16M to 1024T", "--memory 8G"},
    {"--memory", "nan", "from 16M to 1024T", "--memory 8G"},
    {"--tolerance", "loose", "expected exact or published", "leave it out for exact"},
    {"--device", "tpu", "expected host, cuda or cuda:N", "--device host"},
    {"--device", "cuda:x", "expected host, cuda or cuda:N", "--device host"},
};

START_TEST(a_value_that_is_none_is_refused)
{
    char found[64];
    CLI("verify", "softmax", "k.c", bad_values[_i].option, bad_values[_i].value);
    snprintf(found, sizeof found, "%s", bad_values[_i].option);
    cli_expect_error(2, found, bad_values[_i].expected, bad_values[_i].hint);
    ck_assert(strstr(cli.err, bad_values[_i].value) != NULL);
    ck_assert_str_eq(cli.out, "");
}
END_TEST

START_TEST(too_few_and_too_many_arguments_are_refused)
{
    CLI("verify", "softmax");
    cli_expect_error(2, "found 1 of the arguments", "expected PROBLEM CANDIDATE", "unseen verify --help");
    CLI("verify", "softmax", "a.c", "b.c");
    cli_expect_error(2, "unexpected argument 'b.c'", "expected PROBLEM CANDIDATE", "leave it out");
    CLI("list", "extra");
    cli_expect_error(2, "unexpected argument 'extra'", "expected none", "leave it out");
    CLI("check", "softmax", "a.c", "rows=3", "cols=5");
    cli_expect_error(2, "unexpected argument 'cols=5'", "expected PROBLEM CANDIDATE CONFIGURATION",
                     "in quotes");
}
END_TEST

/* They are in users' scripts. --help lists the present names only. */
START_TEST(former_names_of_commands_and_options_still_work)
{
    CLI("freeze", "--help");
    cli_expect(0, "Usage: unseen pin");
    CLI("prove", "--help");
    cli_expect(0, "Usage: unseen selftest");
    CLI("peak", "--help");
    cli_expect(0, "Usage: unseen calibrate");
    CLI("verify", "--help");
    cli_expect(0, "--contract=FILE");
    ck_assert_ptr_null(strstr(cli.out, "--space"));
    CLI("draw", "softmax", "--unseen", "1", "--seed", "1", "--scouts", "0", "--space", "nowhere.space");
    cli_expect_error(2, "nowhere.space", "", "");
    CLI("draw", "softmax", "--unseen", "1", "--seed", "1", "--scouts", "0");
    cli_expect(0, "rows=");
}
END_TEST

START_TEST(every_command_has_help_usage_and_version)
{
    static const char *const commands[] = {"list",   "describe", "draw",  "verify",   "check",
                                           "shrink", "pin",      "audit", "calibrate"};
    char usage[64];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(usage, sizeof usage, "Usage: unseen %s", commands[i]);
        CLI(commands[i], "--help");
        cli_expect(0, usage);
        ck_assert_str_eq(cli.err, "");
        CLI(commands[i], "--usage");
        cli_expect(0, usage);
        CLI(commands[i], "--version");
        cli_expect(0, "unseen ");
    }
    CLI("--help");
    cli_expect(0, "Exit status");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(usage, sizeof usage, "  unseen %s", commands[i]);
        cli_expect(0, usage);
    }
    CLI("--version");
    cli_expect(0, "unseen ");
}
END_TEST

START_TEST(verifys_help_names_every_option_of_the_contract)
{
    static const char *const options[] = {
        "--device=",   "--seen=", "--contract=", "--unseen=",   "--effort=",  "--seed=",
        "--baseline=", "--json=", "--csv=",      "--no-timing", "--timeout=", "--jobs=",
        "-v,",         "-q,",     "--fail-fast", "--tolerance="};
    CLI("verify", "--help");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        cli_expect(0, options[i]);
    cli_expect(0, "first failure");
    cli_expect(0, "Exit status");
}
END_TEST

START_TEST(cuda_without_a_gpu_is_the_environments_fault)
{
    if (access("/dev/nvidiactl", F_OK) == 0)
        SKIP_TEST("there is a GPU");
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.cu"), "--device", "cuda");
    cli_expect_error(3, "--device cuda", "no usable GPU was found", "--device host");
}
END_TEST

TCase *cli_usage_case(void)
{
    TCase *usage = tcase_create("usage");
    tcase_add_checked_fixture(usage, cli_setup, cli_teardown);
    tcase_set_timeout(usage, 60);
    tcase_add_test(usage, without_a_command_the_usage_goes_to_standard_error);
    tcase_add_test(usage, an_unknown_command_names_the_known_ones);
    tcase_add_test(usage, help_has_many_names);
    tcase_add_test(usage, an_unknown_problem_names_the_known_ones);
    tcase_add_test(usage, an_unknown_option_names_those_of_the_command);
    tcase_add_test(usage, an_option_without_its_value_or_with_one_too_many_is_refused);
    tcase_add_loop_test(usage, a_value_that_is_none_is_refused, 0, sizeof bad_values / sizeof *bad_values);
    tcase_add_test(usage, too_few_and_too_many_arguments_are_refused);
    tcase_add_test(usage, every_command_has_help_usage_and_version);
    tcase_add_test(usage, former_names_of_commands_and_options_still_work);
    tcase_add_test(usage, verifys_help_names_every_option_of_the_contract);
    tcase_add_test(usage, cuda_without_a_gpu_is_the_environments_fault);
    return usage;
}

Suite *cli_suite(void)
{
    Suite *suite = suite_create("cli");
    suite_add_tcase(suite, cli_usage_case());
    suite_add_tcase(suite, cli_input_case());
    suite_add_tcase(suite, cli_candidate_case());
    suite_add_tcase(suite, cli_limits_case());
    suite_add_tcase(suite, cli_run_case());
    suite_add_tcase(suite, cli_output_case());
    suite_add_tcase(suite, cli_scores_case());
    suite_add_tcase(suite, cli_reward_case());
    suite_add_tcase(suite, cli_peaks_case());
    suite_add_tcase(suite, cli_report_case());
    suite_add_tcase(suite, cli_audit_case());
    suite_add_tcase(suite, cli_explain_case());
    suite_add_tcase(suite, cli_values_case());
    suite_add_tcase(suite, cli_scouts_case());
    suite_add_tcase(suite, cli_directed_case());
    suite_add_tcase(suite, cli_cover_case());
    suite_add_tcase(suite, cli_compare_case());
    suite_add_tcase(suite, cli_shrink_case());
    suite_add_tcase(suite, cli_after_case());
    suite_add_tcase(suite, cli_freeze_case());
    suite_add_tcase(suite, cli_export_case());
    suite_add_tcase(suite, cli_shapes_case());
    suite_add_tcase(suite, cli_inputs_case());
    suite_add_tcase(suite, cli_ci_case());
    suite_add_tcase(suite, cli_batch_case());
    return suite;
}
