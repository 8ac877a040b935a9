/* A problem in a folder anywhere: verified, drawn, frozen and begun like the tool's own. */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/problem.h"
#include "share.h"
#include "skip.h"
#include "suites.h"
#include "verify/util/version.h"

/* --- the same as the built-in --- */

struct copied {
    const char *problem, *candidate;
    int status;
};

static const struct copied copies[] = {{"softmax", "problems/softmax/bad/shape_table.c", 1},
                                       {"topk", "problems/topk/baseline.c", 0}};

START_TEST(a_folder_copied_out_of_the_tree_gives_the_same_report)
{
    SHARE_TEST(_i, 3);
    const struct copied *const c = &copies[_i];
    char folder[64];
    snprintf(folder, sizeof folder, "./%s", c->problem);
    if (access(folder, F_OK) != 0)
        own_copy(c->problem);
    setenv("OMP_NUM_THREADS", "1",
           1); /* among elements that are equally wrong the first is the worst, by threads */
    const char *const words[] = {c->problem, folder}, *const files[] = {"built-in", "folder"};
    for (int i = 0; i < 2; i++) {
        CLI("verify", words[i], cli_repository(c->candidate), "--device", "host", "--unseen", "12", "--seed",
            "5", "--no-timing", "--no-explain", "-v");
        cli_expect(c->status, "unseen " UNSEEN_VERSION ": ");
        own_keep_report(files[i]);
    }
    own_sh("diff built-in folder");
}
END_TEST

START_TEST(a_failures_line_names_the_folder_and_can_be_pasted)
{
    char command[2000], *end;
    CLI("verify", "./softmax", cli_repository(copies[0].candidate), TINY, "--unseen", "2", "--seed", "5",
        "--no-explain");
    cli_expect(1, "\n  unseen check ./softmax ");
    snprintf(command, sizeof command, "%s", strstr(cli.out, "check ./softmax "));
    end = strchr(command, '\n');
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    own_sh("%s %s >out.txt; test $? = 1", cli_tool(), command);
    ck_assert(cli_printed("unwritten: "));
}
END_TEST

START_TEST(every_problem_of_the_tree_loads_from_a_folder_and_draws_the_same_sets)
{
    const char *const name = problem_registry[_i]->name;
    char folder[64];
    SHARE_TEST(_i, 3);
    snprintf(folder, sizeof folder, "./%s", name);
    if (access(folder, F_OK) != 0)
        own_copy(name);
    CLI("draw", name, "--seed", "2026", "--device", "host", "--unseen", "20");
    cli_expect(0, "# unseen: ");
    own_sh("cp out.txt built-in; cp err.txt built-in-notes");
    CLI("draw", folder, "--seed", "2026", "--device", "host", "--unseen", "20");
    own_sh("cmp out.txt built-in; cmp err.txt built-in-notes");
}
END_TEST

/* The tool has functions of the same names for its own softmax. */
START_TEST(a_folder_is_judged_by_its_own_mathematics)
{
    own_sh("sed -i 's/, state->sum);/, num_add(state->sum, num_of(1)));/' softmax/reference.h");
    CLI("verify", "./softmax", cli_repository("problems/softmax/baseline.c"), TINY, "--unseen", "2");
    cli_expect(1, "broken");
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), TINY, "--unseen", "2");
    cli_expect(0, "general");
}
END_TEST

START_TEST(every_command_takes_a_folder)
{
    cli_put_kernel("bad.c", "if (cols > 5) return 0;", "0");
    CLI("describe", "softmax/");
    cli_expect(0, "/softmax/softmax.space)");
    CLI("describe", "./softmax", "--header");
    cli_expect(0, "int softmax(const float *x, float *y");
    CLI("check", "./softmax", "bad.c", "rows=1 cols=6", "--device", "host");
    cli_expect(1, "unwritten: rows=1 cols=6");
    CLI("shrink", "./softmax", "bad.c", "rows=3 cols=9", "--device", "host");
    cli_expect(1, "unseen check ./softmax bad.c 'rows=1 cols=6 input=");
    CLI("audit", "./softmax", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--unseen", "1");
    cli_expect(0, "unseen audit softmax on");
    own_sh("cd softmax && %s describe . >../out.txt", cli_tool());
    ck_assert(cli_printed("row-wise softmax"));
}
END_TEST

START_TEST(a_frozen_failure_goes_to_the_folder_and_is_run_first)
{
    CLI("pin", "./softmax", "rows=3 cols=7 seed=4");
    cli_expect(0, "/softmax/softmax.regress: 1 configuration");
    CLI("draw", "./softmax", "--unseen", "2", "--device", "host");
    cli_expect(0, "rows=3 cols=7 input=normal seed=4  # unseen: frozen");
    CLI("pin", "./softmax", "rows=32 cols=4096");
    cli_expect_error(2, "is in the seen set", "/softmax/softmax.seen", "nothing needs to be done");
}
END_TEST

START_TEST(a_built_in_name_means_the_built_in_and_another_word_a_folder)
{
    own_sh("echo garbage >softmax/problem.c; cp -r softmax mine; mv mine/softmax.seen mine/mine.seen");
    CLI("describe", "softmax");
    cli_expect(0, "row-wise softmax");
    CLI("describe", "mine");
    cli_expect_error(2, "the folder mine has no mine.space", "mine.seen were expected",
                     "unseen new mine --like");
}
END_TEST

/* --- unseen new --- */

START_TEST(a_new_problem_builds_and_passes_at_once)
{
    SHARE_TEST(_i, 3);
    static const char *const like[] = {"softmax", "gemm_bf16"};
    CLI("new", "my_own", "--like", like[_i]);
    cli_expect(0, "unseen verify ./my_own ./my_own/baseline.c --device host --effort quick");
    CLI("verify", "./my_own", "my_own/baseline.c", "--device", "host", "--effort", "quick", "--no-timing");
    cli_expect(0, "unseen " UNSEEN_VERSION ": my_own\n");
    cli_expect(0, "general");
    CLI("describe", "./my_own");
    cli_expect(0, "int my_own(const ");
    own_sh("! grep -rw %s my_own --include=*.c --include=*.cu --include=*.s* | grep -v .summary", like[_i]);
    own_sh("head -1 my_own/README.md | grep -qx '# my_own'");
}
END_TEST

START_TEST(uninstalling_leaves_what_a_user_has_frozen)
{
    char make[1400];
    snprintf(make, sizeof make, "MAKEFLAGS= make -s -C $(dirname %s) PREFIX=$PWD/there",
             cli_repository("Makefile"));
    own_sh("%s install-shared && test -f there/share/unseen/problems/candidate.h", make);
    own_sh("echo mine >there/share/unseen/softmax.regress && %s uninstall", make);
    own_sh("find there -type f >left.txt && grep -qx there/share/unseen/softmax.regress left.txt && "
           "test $(wc -l <left.txt) = 1");
}
END_TEST

static const char *const forms[] = {"contraction", "rows", "discrete", "recurrence", "elements", "folds"};

START_TEST(a_new_problem_may_begin_with_a_form)
{
    static const char *const macros[] = {"REF_CONTRACTION", NULL,           "REF_DISCRETE",
                                         "REF_RECURRENCE",  "REF_ELEMENTS", "REF_FOLD"};
    CLI("new", "my_own", "--form", forms[_i]);
    cli_expect(0, "wrote ./my_own");
    if (macros[_i])
        own_sh("cat my_own/*.h | grep -qx '#define %s'", macros[_i]);
    else
        own_sh("! cat my_own/reference*.h | grep -E 'REF_(CONTRACTION|DISCRETE|RECURRENCE|ELEMENTS|FOLD)'");
    CLI("new", "other", "--form", "elments");
    cli_expect_error(2, "--form 'elments' (did you mean 'elements'?)", "expected contraction", "--->");
    CLI("new", "other", "--form", "rows", "--like", "softmax");
    cli_expect_error(2, "--like and --form were found", "expected one of them", "leave one out");
}
END_TEST

START_TEST(a_new_problem_may_begin_with_a_folder_and_takes_what_it_includes)
{
    own_sh(
        "mkdir there; echo '#include \"deep.h\"' >there/common.h; echo 'enum { HELP = 1 };' >there/deep.h");
    own_sh("sed -i '1i#include \"../there/common.h\"' softmax/problem.c");
    CLI("new", "second", "--like", "./softmax", "--out", "there");
    cli_expect(0, "wrote there/second");
    own_sh(
        "rm -r softmax; mv there/second .; rm -r there; grep -q '^#include \"common.h\"' second/problem.c");
    CLI("describe", "./second");
    cli_expect(0, "int second(const float *x");
}
END_TEST

/* Words of a sentence, members and other strings stay unchanged. */
START_TEST(only_what_names_the_problem_is_renamed)
{
    static const char words[] = "/* softmax, as a word */\nstruct words { int (*softmax)(int); };\n"
                                "static inline int words_get(struct words w)\n{\n"
                                "    return w.softmax (sizeof \"softmax\" == 8 ? 'a' : '\"');\n}\n";
    cli_put("softmax/words.h", words);
    own_sh("sed -i '1i#include \"words.h\"' softmax/problem.c");
    CLI("new", "other", "--like", "./softmax");
    cli_expect(0, "wrote ./other");
    own_sh("cmp softmax/words.h other/words.h");
    own_sh("grep -q 'problem_other = ' other/problem.c && grep -q '.name = \"other\"' other/problem.c");
    own_sh("grep -q '^int other(const float' other/baseline.c && grep -q '^// problem: other$' "
           "other/baseline.c");
}
END_TEST

START_TEST(what_cannot_be_begun_is_told)
{
    CLI("new", "softmax", "--like", "topk");
    cli_expect_error(2, "cannot make the folder ./softmax: File exists", "a new one was expected", "--out");
    CLI("new", "x", "--like", "topk", "--out", "nosuch");
    cli_expect_error(2, "cannot make the folder nosuch/x: No such file", "a new one was expected", "--out");
    CLI("new", "x", "--like", "nosuch");
    cli_expect_error(2, "unknown problem 'nosuch'", "expected one of softmax", "unseen list");
    CLI("new", "x");
    cli_expect_error(2, "found no --like", "expected the problem to begin with", "--like softmax");
    const char *const names[] = {
        "my-norm", "2d", "", "double", "a/b", "a_name_that_is_far_too_long_for_anybody_to_type_it_twice"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLI("new", names[i], "--like", "topk");
        cli_expect_error(2, "cannot be a problem's name", "a C function's was expected", "choose another");
    }
    cli.file_limit = 1000; /* as on a full disk */
    CLI("new", "x", "--like", "topk");
    cli_expect_error(3, "File too large", "nothing was written", "free some room");
    ck_assert_int_ne(access("x", F_OK), 0);
}
END_TEST

/* --- installed --- */

START_TEST(an_installed_tool_has_all_that_a_problem_needs)
{
    char tool[1500];
    ck_assert(getcwd(tool, 1000) != NULL);
    strcat(tool, "/root/bin/unseen");
    own_sh("make -s -C %s install-shared PREFIX=$PWD/root >make.log 2>&1", cli_repository("."));
    own_sh(
        "mkdir -p root/bin root/libexec/unseen elsewhere && cp %s root/bin && cp $(dirname %s)/unseen-runner "
        "root/libexec/unseen",
        cli_tool(), cli_tool());
    own_sh("cd elsewhere && %s new fp8 --like gemm_fp8 >../out.txt && test -s fp8/candidate.h", tool);
    own_sh("cd elsewhere && %s verify ./fp8 fp8/baseline.c --device host --unseen 3 --no-timing >../out.txt",
           tool);
    ck_assert(cli_printed("general"));
    own_sh("cd elsewhere && %s freeze fp8 'm=3 n=5 k=7' >../out.txt && test -s fp8/fp8.regress", tool);
    own_sh("cd elsewhere && for p in $(%s list | cut -d' ' -f1 | grep attention); do %s new my_$p --like $p "
           "&& %s describe "
           "./my_$p || "
           "exit; done >../out.txt",
           tool, tool, tool);
    ck_assert(cli_printed("int my_paged_attention("));
    own_sh("! grep -r %s cache", cli_repository("problems")); /* the installed headers were taken */
}
END_TEST

START_TEST(completion_and_manual_are_made_of_the_tools_own_words)
{
    own_sh("sh %s/doc/install/man.sh %s >unseen.1 && grep -q '^.SH \"UNSEEN VERIFY' unseen.1 && grep -q "
           "'no..lock' "
           "unseen.1",
           cli_repository("."), cli_tool());
    own_sh("cat >try.sh <<'E'\nsource \"$1\"\nCOMP_WORDS=(\"$2\" \"$3\" \"$4\" \"$5\") COMP_CWORD=$6\n"
           "_unseen\necho \" ${COMPREPLY[*]} \"\nE");
    static const char *const asked[][3] = {{"'pi' '' '' 1", " pin ", "history"},
                                           {"verify soft '' 2", " softmax ", "topk"},
                                           {"verify softmax --uns 3", " --unseen ", "--seed"}};
    own_sh("sh %s/doc/install/completion.sh %s >unseen.bash", cli_repository("."), cli_tool());
    for (int i = 0; i < 3; i++)
        own_sh("bash try.sh ./unseen.bash %s %s >out.txt && grep -q -e '%s' out.txt && "
               "! grep -q -e '%s' out.txt",
               cli_tool(), asked[i][0], asked[i][1], asked[i][2]);
}
END_TEST

TCase *own_folder_case(void)
{
    int problems = 0;
    while (problem_registry[problems])
        problems++;
    TCase *tests = tcase_create("folders");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, a_folder_copied_out_of_the_tree_gives_the_same_report, 0,
                        sizeof copies / sizeof *copies);
    tcase_add_test(tests, a_failures_line_names_the_folder_and_can_be_pasted);
    tcase_add_loop_test(tests, every_problem_of_the_tree_loads_from_a_folder_and_draws_the_same_sets, 0,
                        problems);
    tcase_add_test(tests, a_folder_is_judged_by_its_own_mathematics);
    tcase_add_test(tests, every_command_takes_a_folder);
    tcase_add_test(tests, a_frozen_failure_goes_to_the_folder_and_is_run_first);
    tcase_add_test(tests, a_built_in_name_means_the_built_in_and_another_word_a_folder);
    tcase_add_loop_test(tests, a_new_problem_builds_and_passes_at_once, 0, 2);
    tcase_add_loop_test(tests, a_new_problem_may_begin_with_a_form, 0, sizeof forms / sizeof *forms);
    tcase_add_test(tests, uninstalling_leaves_what_a_user_has_frozen);
    tcase_add_test(tests, a_new_problem_may_begin_with_a_folder_and_takes_what_it_includes);
    tcase_add_test(tests, only_what_names_the_problem_is_renamed);
    tcase_add_test(tests, what_cannot_be_begun_is_told);
    tcase_add_test(tests, an_installed_tool_has_all_that_a_problem_needs);
    tcase_add_test(tests, completion_and_manual_are_made_of_the_tools_own_words);
    return tests;
}

Suite *own_suite(void)
{
    Suite *suite = suite_create("own");
    suite_add_tcase(suite, own_folder_case());
    suite_add_tcase(suite, own_error_case());
    suite_add_tcase(suite, own_cache_case());
    suite_add_tcase(suite, own_again_case());
    suite_add_tcase(suite, own_cuda_case());
    suite_add_tcase(suite, own_tutorial_case());
    return suite;
}
