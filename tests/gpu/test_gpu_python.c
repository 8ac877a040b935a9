/* Candidates in Python on a real device, by the interpreter that UNSEEN_TEST_PYTHON names, whose torch needs
 * CUDA. Freed memory in torch's cache holds no answer, except where graphs replay. A module's own allocations
 * lie between guards in one call. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "skip.h"
#include "suites.h"

static const char *interpreter(void)
{
    char command[600];
    const char *const given = getenv("UNSEEN_TEST_PYTHON");
    const char *const path = given ? given : cli_repository("build/venv/bin/python");
    snprintf(command, sizeof command,
             "'%.400s' -c 'import torch; exit(not torch.cuda.is_available())' >/dev/null 2>&1", path);
    return system(command) == 0 ? path : NULL;
}

static const struct {
    const char *module;
    int status;
    const char *words;
} modules[] = {
    {"tests/python/hacks/uncleared.py", 1, "] got nan want "},
    {"tests/python/honest/graphs.py", 0, "pass: "},
    {"tests/python/honest/compiled.py", 0, "pass: "},
};
enum { MODULES = sizeof modules / sizeof *modules };

START_TEST(what_torch_keeps_of_freed_memory_holds_no_answer)
{
    const char *const python = interpreter();
    if (!python)
        SKIP_TEST("no interpreter whose torch has CUDA: UNSEEN_TEST_PYTHON");
    CLI("check", "softmax", cli_repository(modules[_i].module), "rows=700 cols=333 seed=5", "--device",
        "cuda", "--python", python, "-v");
    cli_expect(modules[_i].status, modules[_i].words);
    ck_assert_msg(!strstr(cli.out, "is not overwritten"), "%s", cli.out);
}
END_TEST

static const struct {
    const char *module, *entry, *words;
} own[] = {
    {"temporary", "past", "overrun: "},
    {"temporary", "beside", "it wrote after the 2800 bytes of a tensor that it allocated itself"},
    {"unwritten", "softmax", "with its own allocations poisoned and between guards: "},
};
enum { OWN = sizeof own / sizeof *own };

/* With the defence, and without it. */
START_TEST(what_a_module_allocates_itself_is_guarded)
{
    char module[200];
    const char *const python = interpreter();
    if (!python)
        SKIP_TEST("no interpreter whose torch has CUDA: UNSEEN_TEST_PYTHON");
    snprintf(module, sizeof module, "tests/python/own/%s.py", own[_i].module);
    CLI("check", "softmax", cli_repository(module), "rows=700 cols=333 seed=5", "--device", "cuda",
        "--python", python, "--entry", own[_i].entry);
    cli_expect(1, own[_i].words);
    cli_put("one.seen", "rows=700 cols=333 input=normal\n");
    CLI("verify", "softmax", cli_repository(module), "--device", "cuda", "--seen", "one.seen", "--unseen",
        "0", "--no-timing", "--no-explain", "--python", python, "--entry", own[_i].entry, "--disable-defence",
        "guards");
    cli_expect(1, "every seen configuration passes"); /* the status is that of a verdict without a defence */
}
END_TEST

TCase *gpu_python_case(void)
{
    TCase *tests = tcase_create("python");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_loop_test(tests, what_torch_keeps_of_freed_memory_holds_no_answer, 0, MODULES);
    tcase_add_loop_test(tests, what_a_module_allocates_itself_is_guarded, 0, OWN);
    return tests;
}
