/* A problem in a folder, judged on a GPU: compiled wherever nvcc is, run where there is a GPU. */
#include "own.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference/judge.h"
#include "skip.h"
#include "suites.h"
#include "verify/build/compiler.h"
#include "verify/problem/folder.h"

static char text[4096];

/* Compiled for a GPU and loaded; a second time from the cache. */
START_TEST(what_judges_on_a_gpu_is_compiled_and_kept)
{
    char nvcc[600];
    const struct problem *problem;
    if (!compiler_find_nvcc(nvcc, sizeof nvcc))
        SKIP_TEST("there is no nvcc");
    ck_assert_msg(folder_problem(&problem, "./softmax", text, sizeof text) == FOLDER_OK, "%s", text);
    ck_assert(reference_find(problem, 1)->judge_cuda == NULL);
    ck_assert_msg(folder_prepare_cuda(problem, "90a", text, sizeof text) == FOLDER_OK, "%s", text);
    ck_assert_str_eq(text, "");
    ck_assert(reference_find(problem, 1)->judge_cuda != NULL);
    ck_assert(reference_find(problem, 1)->judge_cuda !=
              reference_find(problem_find("softmax"), 1)->judge_cuda);
    own_sh("ls cache/unseen/softmax-sm_90a-*.so >/dev/null");
    ck_assert_int_eq(folder_prepare_cuda(problem_find("softmax"), "90a", text, sizeof text), FOLDER_OK);
}
END_TEST

START_TEST(what_the_gpu_compiler_says_is_shown)
{
    char nvcc[600];
    const struct problem *problem;
    if (!compiler_find_nvcc(nvcc, sizeof nvcc))
        SKIP_TEST("there is no nvcc");
    own_sh("printf '#ifdef __CUDACC__\\nREF_FN int f(void) { return absent; }\\n#endif\\n' "
           ">>softmax/reference.h");
    ck_assert_msg(folder_problem(&problem, "./softmax", text, sizeof text) == FOLDER_OK, "%s", text);
    ck_assert_int_eq(folder_prepare_cuda(problem, "90a", text, sizeof text), FOLDER_INPUT);
    ck_assert_msg(strstr(text, "/softmax/reference.h does not compile: ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\"absent\" is undefined") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "unseen-build.log") != NULL, "%s", text);
    ck_assert(reference_find(problem, 1)->judge_cuda == NULL);
}
END_TEST

TCase *own_cuda_case(void)
{
    TCase *tests = tcase_create("compiled for a GPU");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, what_judges_on_a_gpu_is_compiled_and_kept);
    tcase_add_test(tests, what_the_gpu_compiler_says_is_shown);
    return tests;
}

#define NEED_MPFR()                                                                                          \
    if (system("echo '#include <mpfr.h>' | cc -E - >/dev/null 2>&1") != 0)                                   \
    SKIP_TEST("no mpfr.h to compile a witness with")

START_TEST(on_a_gpu_a_folder_gives_the_same_report)
{
    NEED_MPFR();
    static const char *const words[] = {"softmax", "./softmax"}, *const files[] = {"built-in", "folder"};
    for (int i = 0; i < 2; i++) {
        CLI("verify", words[i], cli_repository("problems/softmax/baseline.cu"), "--device", "cuda",
            "--unseen", "12", "--seed", "5", "--no-timing");
        cli_expect(0, "general");
        own_keep_report(files[i]);
    }
    own_sh("diff built-in folder");
}
END_TEST

/* The tool has functions of the same names for its own softmax. */
START_TEST(on_a_gpu_a_folder_is_judged_by_its_own_mathematics)
{
    NEED_MPFR();
    own_sh("sed -i 's/, state->sum);/, num_add(state->sum, num_of(1)));/' softmax/reference.h");
    CLI("verify", "./softmax", cli_repository("problems/softmax/baseline.cu"), "--device", "cuda", "--unseen",
        "2", "--no-timing", "--no-explain");
    cli_expect(1, "broken");
}
END_TEST

START_TEST(on_a_gpu_the_tutorial_can_be_followed)
{
    NEED_MPFR();
    own_follow_tutorial(true);
}
END_TEST

TCase *own_gpu_case(void)
{
    TCase *tests = tcase_create("folders on a GPU");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, on_a_gpu_a_folder_gives_the_same_report);
    tcase_add_test(tests, on_a_gpu_a_folder_is_judged_by_its_own_mathematics);
    tcase_add_test(tests, on_a_gpu_the_tutorial_can_be_followed);
    return tests;
}
