/* Rewards of candidates that cannot run, and of limits of the machine. The candidate's fault gets the value
 * of a failure, and no other fault does. */
#include "cli.h"

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "skip.h"

static const char table[] = "pass 1\nwrong -2\nload -4\ncompile -5\ncrash -3\nrefused -1\nother -6\n";

/* The first word of its only line is this; `state`, when it is not NULL, begins the reason. */
static void expect_reward(int status, const char *number, const char *state)
{
    char first[400];
    snprintf(first, sizeof first, "%s ", number);
    ck_assert_msg(cli.status == status, "%d\n%s%s", cli.status, cli.out, cli.err);
    ck_assert_msg(strncmp(cli.out, first, strlen(first)) == 0, "%s: '%s' %s", number, cli.out, cli.err);
    ck_assert_msg(!state || strstr(cli.out, state), "%s", cli.out);
    ck_assert_msg(strchr(cli.out, '\n') == cli.out + strlen(cli.out) - 1, "%s", cli.out);
}

/* --- candidates that cannot run, by their own fault --- */

static void put_object(const char *name, unsigned machine, size_t bytes)
{
    char command[200], object[65536];
    cli_put_kernel("whole.c", "", "0");
    snprintf(command, sizeof command, "cc -shared -fPIC -O1 -o whole.so whole.c -lm");
    ck_assert_int_eq(system(command), 0);
    FILE *file = fopen("whole.so", "rb");
    const size_t size = fread(object, 1, sizeof object, file);
    fclose(file);
    if (machine)
        ((Elf64_Ehdr *)object)->e_machine = (Elf64_Half)machine;
    file = fopen(name, "wb");
    fwrite(object, 1, bytes && bytes < size ? bytes : size, file);
    fclose(file);
}

static const struct {
    const char *name, *text;
    int status;
    const char *worth; /* by the table */
} spoilt[] = {
    {"absent.c", "int other(void) { return 0; }\n", 2, "-4"},
    {"variable.c", "int softmax = 3;\n", 2, "-4"},
    {"undefined.c", "int missing(void);\nint softmax(void) { return missing(); }\n", 2, "-4"},
    {"syntax.c", "int softmax(\n", 2, "-5"},
    {"full.c", "#error No space left on device\n", 2, "-5"},
    {"include.c", "#include \"absent.h\"\n", 2, "-5"},
    {"solution.json", "{\"spec\": {\"entry_point\": \"main.py::run\"}, \"sources\": [}\n", 2, "-5"},
    {"empty.json", "{}\n", 2, "-5"},
    {"truncated.so", NULL, 2, "-4"},
    {"foreign.so", NULL, 2, "-4"},
    {"text.so", "this is no object\n", 2, "-4"},
    {"aborts.c",
     "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { abort(); }\n"
     "int softmax(void) { return 0; }\n",
     1, "-4"},
    {"leaves.c",
     "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { exit(0); }\n"
     "int softmax(void) { return 0; }\n",
     1, "-4"},
};

START_TEST(what_the_candidate_spoils_is_worth_a_failure)
{
    const char *const name = spoilt[_i].name;
    if (spoilt[_i].text)
        cli_put(name, spoilt[_i].text);
    else
        put_object(name, strcmp(name, "foreign.so") == 0 ? EM_AARCH64 : 0,
                   strcmp(name, "truncated.so") == 0 ? 300 : 0);
    cli_put("table", table);
    CLI("verify", "softmax", name, TINY, "--unseen", "2", "--reward", "pass_rate", "--json", "r.json");
    expect_reward(spoilt[_i].status, "0", NULL);
    CLI("verify", "softmax", name, TINY, "--unseen", "2", "--reward", "table", "--reward-table", "table");
    expect_reward(spoilt[_i].status, spoilt[_i].worth, NULL);
}
END_TEST

/* In the interpreter's part: messages of Python, and acts of the candidate's class. */
static const struct {
    const char *text;
    int status;
} modules[] = {
    {"def f(:\n", 2},
    {"x = 1\n", 2},
    {"import nowhere_at_all\n", 2},
    {"raise RuntimeError('no')\n", 2},
    {"raise MemoryError\n", 2},
    {"import sys; sys.exit(0)\n", 2},
    {"class ModelNew:\n    def __init__(self): raise OSError('no')\n    def forward(self, x): return x\n", 1},
    {"def softmax(): return 1\n", 1},
    {"import os; os._exit(0)\n", 1},
};

START_TEST(a_module_that_does_not_load_is_worth_a_failure)
{
    if (!cli_torch()) {
        skip_test("no interpreter with torch");
        return;
    }
    cli_put("m.py", modules[_i].text);
    CLI("verify", "softmax", "m.py", TINY, "--unseen", "2", "--reward", "pass_rate", "--python", cli_torch());
    expect_reward(modules[_i].status, "0", NULL);
}
END_TEST

/* JSON says broken, and why. A verdict without a culprit would be dropped from a training run. */
START_TEST(a_candidate_that_cannot_be_loaded_is_broken_in_files)
{
    cli_put("absent.c", "int other(void) { return 0; }\n");
    CLI("verify", "softmax", "absent.c", TINY, "--unseen", "2", "--json", "r.json", "--db", "runs.db");
    cli_expect_error(2, "no function 'softmax'", "", "describe softmax --header");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "broken");
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(result, "partial_reason")), "no function 'softmax'"));
    json_decref(result);
    CLI("report", "r.json");
    cli_expect(1, "broken: it cannot be loaded: the object exports no function 'softmax'");
}
END_TEST

/* --- faults that are not a candidate's --- */

START_TEST(what_the_machine_cannot_do_is_inconclusive)
{
    cli_put_kernel("right.c", "", "0");
    setenv("PATH", "/nonexistent", 1);
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "--reward", "pass_rate");
    expect_reward(3, "inconclusive", "cannot run cc");
    cli_put("m.py", "def softmax(x): return x\n");
    CLI("verify", "softmax", "m.py", TINY, "--unseen", "2", "--reward", "pass_rate", "--python",
        "/nonexistent/python");
    expect_reward(3, "inconclusive", "cannot run the interpreter");
}
END_TEST

START_TEST(a_baseline_that_does_not_load_is_the_settings_fault)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "1");
    cli_put("base.c", "int other(void) { return 0; }\n");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "--baseline", "base.c", "--reward",
        "conditional");
    expect_reward(2, "none", "no function 'softmax'");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "--baseline", "base.c", "--reward",
        "conditional");
    expect_reward(2, "none", "no function 'softmax'");
}
END_TEST

/* --- settings --- */

START_TEST(scouts_alone_give_a_reward)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "cols == 3");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "0", "--small", "20", "--reward", "pass_rate");
    expect_reward(0, "1", "20 of 20 unseen configurations pass");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "0", "--small", "20", "--reward", "fast_0");
    ck_assert_msg(cli.status <= 1 && strtod(cli.out, NULL) <= 1, "%s", cli.out);
}
END_TEST

/* Right, wrong, or no C at all. */
START_TEST(a_set_without_configurations_is_refused_for_all_alike)
{
    static const char *const names[] = {"right.c", "wrong.c", "syntax.c", "absent.c"};
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "1");
    cli_put("syntax.c", "int softmax(\n");
    cli_put("absent.c", "int other(void) { return 0; }\n");
    for (size_t i = 0; i < 4; i++) {
        CLI("verify", "softmax", names[i], TINY, "--unseen", "0", "--reward", "pass_rate");
        cli_expect_error(2, "the unseen set, which is empty", "expected at least one", "--small N");
        ck_assert_str_eq(cli.out, "");
        CLI("verify", "softmax", names[i], "--device", "host", "--contract", "tiny.space", "--seen",
            "tiny.seen", "--unseen", "0", "--small", "5", "--reward", "score");
        cli_expect_error(2, "holds scouts only", "expected at least one", "--unseen N");
        ck_assert_str_eq(cli.out, "");
    }
}
END_TEST

/* The first failure leaves out the rest, which is worth no more than a failure. */
START_TEST(fail_fast_gives_the_wrong_one_a_number)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "1");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "3", "--fail-fast", "--reward", "pass_rate");
    expect_reward(0, "1", NULL);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "3", "--fail-fast", "--reward", "pass_rate");
    expect_reward(1, "0", "--fail-fast left out 3");
}
END_TEST

/* --- explaining --- */

static void expect_explained(bool explained)
{
    json_t *const result = cli_json("r.json");
    const json_t *const phases = json_object_get(result, "phase_seconds");
    const double seconds = json_number_value(json_object_get(result, "seconds"));
    double sum = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)phases, name, value) sum += json_number_value(value);
    ck_assert_double_eq_tol(sum, seconds, 1e-6 * seconds);
    ck_assert(json_is_null(json_object_get(result, "diagnosis")) == !explained);
    ck_assert((json_number_value(json_object_get(phases, "explain")) > 0) == explained);
    json_decref(result);
}

START_TEST(a_reward_is_not_explained_unless_that_is_asked_for)
{
    cli_put_kernel("wrong.c", "", "1");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "--reward", "pass_rate", "--json", "r.json");
    expect_explained(false);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "-q", "--json", "r.json");
    expect_explained(false);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "-q", "--explain", "--json", "r.json");
    expect_explained(true);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "--jobs", "3", "--json", "r.json");
    expect_explained(true);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "2", "--no-explain", "--json", "r.json");
    expect_explained(false);
}
END_TEST

/* --- the preset --- */

START_TEST(effort_reward_is_one_seen_two_large_and_many_small)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "cols % 8 != 0");
    CLI("verify", "softmax", "right.c", "--device", "host", "--effort", "reward", "--json", "r.json",
        "--reward", "pass_rate");
    expect_reward(0, "1", "192 of 192 unseen configurations pass");
    json_t *const result = cli_json("r.json");
    ck_assert_int_eq(json_integer_value(json_object_get(result, "planned_seen")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(result, "planned_scouts")), 190);
    ck_assert_str_eq(json_string_value(json_object_get(result, "effort")), "reward");
    ck_assert(json_is_null(json_object_get(result, "timing_trusted")));
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(result, "notes")), "1 of the 5 seen configurations"));
    json_decref(result);
    CLI("verify", "softmax", "wrong.c", "--device", "host", "--effort", "reward", "--reward", "pass_rate");
    ck_assert_msg(cli.status == 1 && strtod(cli.out, NULL) < 1, "%s", cli.out);
    CLI("audit", "softmax", "--effort", "reward");
    cli_expect_error(2, "--effort 'reward'", "expected quick, standard or deep", "--unseen N");
    CLI("verify", "softmax", "right.c", "--device", "host", "--effort", "reward", "--reward", "score");
    cli_expect_error(2, "made of times", "expected a run that takes them", "--timing");
}
END_TEST

/* --- gates --- */

START_TEST(an_honest_refusal_is_accepted_where_that_is_asked_for)
{
    cli_put_kernel("refuses.c", "if (cols % 2) return 1;", "0");
    cli_put_kernel("wrong.c", "", "1");
    CLI("verify", "softmax", "refuses.c", TINY, "--unseen", "8", "--seed", "3", "-q", "--json", "r.json");
    cli_expect(1, "limited");
    CLI("verify", "softmax", "refuses.c", TINY, "--unseen", "8", "--seed", "3", "-q", "--accept", "limited",
        "--junit", "r.xml");
    cli_expect(0, "limited");
    ck_assert_int_ne(system("grep -q '<failure' r.xml"), 0);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "3", "-q", "--accept", "limited", "--json",
        "w.json");
    cli_expect(1, "broken");
    CLI("report", "r.json");
    cli_expect(1, "limited");
    CLI("report", "r.json", "--accept", "limited", "--junit", "r.xml");
    ck_assert_int_eq(cli.status, 0);
    ck_assert_int_ne(system("grep -q '<failure' r.xml"), 0);
    CLI("report", "r.json", "w.json", "--accept", "limited");
    ck_assert_int_eq(cli.status, 1);
    CLI("verify", "softmax", "refuses.c", TINY, "--accept", "broken");
    cli_expect_error(2, "--accept 'broken'", "expected general or limited", "leave it out");
}
END_TEST

TCase *cli_reward_case(void)
{
    TCase *tcase = tcase_create("reward");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, what_the_candidate_spoils_is_worth_a_failure, 0,
                        (int)(sizeof spoilt / sizeof *spoilt));
    tcase_add_loop_test(tcase, a_module_that_does_not_load_is_worth_a_failure, 0,
                        (int)(sizeof modules / sizeof *modules));
    tcase_add_test(tcase, a_candidate_that_cannot_be_loaded_is_broken_in_files);
    tcase_add_test(tcase, what_the_machine_cannot_do_is_inconclusive);
    tcase_add_test(tcase, a_baseline_that_does_not_load_is_the_settings_fault);
    tcase_add_test(tcase, scouts_alone_give_a_reward);
    tcase_add_test(tcase, a_set_without_configurations_is_refused_for_all_alike);
    tcase_add_test(tcase, fail_fast_gives_the_wrong_one_a_number);
    tcase_add_test(tcase, a_reward_is_not_explained_unless_that_is_asked_for);
    tcase_add_test(tcase, effort_reward_is_one_seen_two_large_and_many_small);
    tcase_add_test(tcase, an_honest_refusal_is_accepted_where_that_is_asked_for);
    return tcase;
}
