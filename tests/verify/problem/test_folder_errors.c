/* Errors in an author's problem folder: each message says what was found, what was expected and what to
 * do. */
#include "own.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "share.h"
#include "suites.h"

struct mistake {
    const char *make; /* shell, in ./softmax */
    const char *found, *expected, *hint;
};

static const struct mistake mistakes[] = {
    /* the folder */
    {"rm problem.c", "the folder ./softmax has no problem.c: No such file",
     "reference.h, softmax.space and softmax.seen", "unseen new softmax"},
    {"rm reference.h", "has no reference.h", "were expected", "write it"},
    {"rm softmax.space", "has no softmax.space", "were expected", "write it"},
    {"rm softmax.seen", "has no softmax.seen", "were expected", "write it"},
    /* code */
    {"echo 'int f(void) { return absent; }' >>problem.c",
     "/softmax/problem.c does not compile: cc ended with status 1", "'absent' undeclared",
     "unseen-build.log"},
    {"echo 'int unused(void);;' >>problem.c; echo 'static int idle;' >>problem.c",
     "problem.c does not compile", "idle", "unseen-build.log"},
    {"echo 'REF_FN num more(num x) { return num_missing(x); }' >>reference.h",
     "/softmax/reference.h does not compile: cc ended with status 1", "num_missing", "unseen-build.log"},
    {"sed -i 's/^REF_FN .*ref_error(/REF_FN double ref_eror(/' reference.h", "reference.h does not compile",
     "ref_error", "unseen-build.log"},
    {"echo 'int later(void); int (*kept)(void) = later;' >>problem.c", "/softmax uses 'later', which neither",
     "the tool defines", "define it in problem.c"},
    /* names */
    {"sed -i s/problem_softmax/problem_softmix/ problem.c", "problem.c exports no problem_softmax",
     "`const struct problem problem_softmax` was expected", "rename the table"},
    {"sed -i 's/.name = \"softmax\"/.name = \"softmix\"/' problem.c", "problem_softmax is called 'softmix'",
     "the folder's name was expected", "set .name to \"softmax\""},
    {"sed -i '/.summary =/d' problem.c", "there is no .summary", "a line for people was expected", "add it"},
    /* tables */
    {"sed -i 's/how the logits are drawn\"},/how the logits are drawn\"}};/; s/^ \\{9,\\}{0}};$//' problem.c",
     "the table .axes has no end: none of its 3 rows is empty", "a last one without a name was expected",
     "end it with {0}"},
    {"sed -i 's/^    {0}};$/};/' problem.c", "the table .classes has no end: none of its 13 rows",
     "was expected", "end it with {0}"},
    {"sed -i 's/\"\\[rows, cols\\]\"}, {0}};/\"[rows, cols]\"}};/' problem.c",
     "the table .tensors has no end: none of its 2 rows", "was expected", "end it with {0}"},
    {"sed -i 's/\"cols\", ARGUMENT_I64}, {0}}/\"cols\", ARGUMENT_I64}}/' problem.c",
     "the table .arguments has no end: none of its 2 rows", "was expected", "end it with {0}"},
    {"sed -i 's/AXIS_CHOICE, NULL, /AXIS_CHOICE, inputs, /; 5i static const char *const inputs[] = {\"a\", "
     "\"b\"};' "
     "problem.c",
     "the table .choices of the axis 'input' has no end: none of its 2 rows", "was expected",
     "end it with NULL"},
    {"sed -i 's/.axes = axes,/.axes = sizeof axes ? 0 : axes,/' problem.c", "there is no .axes",
     "a table was expected", "add it"},
    {"sed -i 's/.arguments = arguments,/.arguments = sizeof arguments ? 0 : arguments,/' problem.c",
     "there is no .arguments", "a table was expected", "add it to problem_softmax"},
    /* axes */
    {"sed -i 's/{\"cols\", AXIS_NUMBER/{\"rows\", AXIS_NUMBER/' problem.c",
     "the axis 'rows' has the name of another axis", "a name of its own was expected", "rename one"},
    {"sed -i 's/{\"cols\", AXIS_NUMBER/{\"seed\", AXIS_NUMBER/' problem.c", "the axis 'seed'",
     "a name of its own was expected", "rename one"},
    {"sed -i 's/{\"cols\", AXIS_NUMBER/{\"my cols\", AXIS_NUMBER/' problem.c", "an axis is called 'my cols'",
     "a name of letters, digits", "rename it"},
    {"sed -i 's/{\"cols\", AXIS_NUMBER/{\"cols\", 7/' problem.c", "the axis 'cols' is of kind 7",
     "AXIS_NUMBER or AXIS_CHOICE was expected", "correct its row"},
    {"sed -i 's/\"rows\", AXIS_NUMBER/\"rows\", AXIS_CHOICE/' problem.c",
     "the axes 'rows' and 'input' are both choices", "one was expected, for the input classes",
     "name the choices"},
    {"sed -i 's/{\"input\", AXIS_CHOICE/{\"input\", AXIS_NUMBER/' problem.c",
     "there is no axis of the input classes", "one choice without choices", "AXIS_CHOICE, NULL"},
    {"sed -i 's/AXIS_CHOICE, NULL, /AXIS_CHOICE, inputs, /; 5i static const char *const inputs[] = {NULL};' "
     "problem.c",
     "the axis 'input' has no choices", "one at least was expected", "name it"},
    {"sed -i 's/.classes = classes,/.classes = sizeof classes ? 0 : classes,/' problem.c",
     "there is no .classes", "a table was expected", "add it"},
    {"sed -i 's/classes\\[\\] = {/&{0},/' problem.c", "there are no input classes",
     "one at least was expected", "name one in .classes"},
    {"sed -i 's/{\"ties\", DATA_ANY, /{\"wide\", DATA_ANY, /' problem.c",
     "the input class 'wide' has the name of another", "a name of its own was expected", "rename one"},
    {"sed -i 's/{\"ties\", DATA_ANY, /{\"ties\", 8, /' problem.c",
     "the input class 'ties' has no known promise", "one was expected", "correct its row"},
    {"sed -i 's/.host_ns = 18/.host_ns = 18, .accumulation = {\"columns\", {{0}}}/' problem.c",
     ".accumulation names 'columns'", "which is no axis", "correct the name"},
    /* tensors and arguments */
    {"sed -i 's/TENSOR_OUTPUT/TENSOR_INPUT/' problem.c", "there is no output", "TENSOR_OUTPUT was expected",
     "add it to the table .tensors"},
    {"sed -i 's/TENSOR_OUTPUT, \"\\[rows, cols\\]\"}/&, {\"z\", DTYPE_F32, TENSOR_OUTPUT, \"[rows]\"}/' "
     "problem.c",
     "the output 'z' has no judgement", "there is no reference_z.h; reference.h judges another output",
     "write it"},
    {"cp reference.h reference_w.h", "reference_w.h judges no output", "'w' is none", "rename the file"},
    {"sed -i 's/{\"y\", DTYPE_F32/{\"x\", DTYPE_F32/' problem.c",
     "the tensor 'x' has the name of another tensor", "was expected", "rename one"},
    {"sed -i 's/{\"cols\", ARGUMENT_I64/{\"x\", ARGUMENT_I64/' problem.c",
     "the argument 'x' has the name of the tensor", "was expected", "rename one"},
    {"sed -i 's/{\"cols\", ARGUMENT_I64/{\"stream\", ARGUMENT_I64/' problem.c",
     "the argument 'stream' has the name of the candidate's parameter", "was expected", "rename one"},
    {"sed -i 's/{\"cols\", ARGUMENT_I64/{\"\", ARGUMENT_I64/' problem.c", "an argument is called ''",
     "a name of letters", "rename it"},
    {"sed -i 's/{\"cols\", ARGUMENT_I64/{\"cols\", 9/' problem.c", "the argument 'cols' is of type 9",
     "ARGUMENT_I64 or another one was expected", "correct its row"},
    {"sed -i 's/{\"x\", DTYPE_F32/{\"x\", 99/' problem.c", "the tensor 'x' has no known dtype",
     "was expected", "correct its row"},
    /* the rest */
    {"sed -i 's/.instantiate = instantiate,//; s/^static int instantiate/int instantiate(const struct config "
     "*, struct "
     "random *, struct random *, struct instance *);\\nint instantiate/' problem.c",
     "there is no .instantiate", "the function that makes a configuration concrete was expected", "write it"},
    {"sed -i 's/.host_ns = 18/.host_ns = 0/' problem.c", ".host_ns is 0", "above 0 were expected",
     "fair guess"},
    {"sed -i 's/.half = {0,/.half = {2,/' problem.c", ".half names the tensor number 2",
     "0 to 1 were expected", "correct it"},
    {"echo 'rows=3 cols=2000000' >>softmax.seen", "/softmax/softmax.seen:7: cols=2000000", "1..1048576",
     "widen the .space file"},
    {"echo 'extra 1..3' >>softmax.space", "/softmax/softmax.space:6:", "'extra'", "--->"},
};

START_TEST(a_mistake_is_told)
{
    const struct mistake *const m = &mistakes[_i];
    SHARE_TEST(_i, 3);
    own_wrap_cc(""); /* none of it runs for long */
    own_sh("cd softmax && cp -r . ../before && { %s; } && ! diff -rq . ../before >/dev/null", m->make);
    CLI("draw", "./softmax", "--device", "host", "--unseen", "1");
    cli_expect_error(2, m->found, m->expected, m->hint);
    own_sh("! ls -d unseen-?????? 2>/dev/null"); /* nothing is left in TMPDIR */
}
END_TEST

START_TEST(a_word_that_is_no_folder_of_a_problem_is_told)
{
    own_sh("mv softmax soft-max; touch file");
    CLI("draw", "./soft-max");
    cli_expect_error(2, "the folder ./soft-max is called 'soft-max'",
                     "a name of letters, digits and '_' was expected", "rename the folder");
    CLI("draw", "./nosuch");
    cli_expect_error(2, "./nosuch: No such file", "a problem's folder was expected", "check the path");
    CLI("draw", "./file");
    cli_expect_error(2, "./file is no folder", "a problem's name or folder was expected", "give the folder");
    own_sh("mkdir 'a\"b'; mv soft-max 'a\"b/softmax'");
    CLI("draw", "a\"b/softmax");
    cli_expect_error(2, "has a quote in it", "no #include can name", "move the folder");
}
END_TEST

START_TEST(a_folder_that_was_renamed_by_hand_is_told)
{
    own_sh("mv softmax mine; cd mine; for f in softmax.*; do mv $f mine.${f#softmax.}; done");
    CLI("draw", "./mine");
    cli_expect_error(2, "/mine/problem.c exports no problem_mine",
                     "`const struct problem problem_mine` was expected", "rename the table, or the folder");
}
END_TEST

START_TEST(a_path_with_blanks_is_no_mistake)
{
    own_sh("mkdir 'my own $x'; mv softmax 'my own $x'");
    CLI("describe", "my own $x/softmax");
    cli_expect(0, "row-wise softmax");
    own_wrap_cc("");
    CLI("describe", "my own $x/softmax");
    cli_expect(0, "unseen describe my own $x/softmax --header");
    ck_assert_int_eq(own_compiled(), 0);
}
END_TEST

START_TEST(without_a_compiler_it_is_the_environments_fault)
{
    setenv("PATH", "/nonexistent", 1);
    CLI("describe", "./softmax");
    cli_expect_error(3, "cannot run cc", "No such file", "install cc");
}
END_TEST

START_TEST(without_the_headers_of_mpfr_it_is_the_environments_fault)
{
    own_wrap_cc("case \"$*\" in *witness*) echo 'num_mpfr.h:6:10: fatal error: mpfr.h: No such file or "
                "directory' >&2; exit "
                "1;; esac");
    CLI("describe", "./softmax");
    cli_expect_error(3, "found no mpfr.h", "witness is compiled with it", "install libmpfr-dev");
}
END_TEST

START_TEST(an_interrupt_ends_the_compiler_and_leaves_nothing)
{
    own_wrap_cc("case \"$*\" in *--version) ;; *) touch begun; sleep 100;; esac");
    const pid_t pid = CLI_START("describe", "./softmax");
    for (int i = 0; i < 1000 && access("begun", F_OK) != 0; i++)
        usleep(10000);
    kill(pid, SIGINT);
    cli_wait(pid);
    ck_assert_int_eq(cli.status, 130);
    ck_assert_ptr_nonnull(strstr(cli.err, "unseen: interrupted"));
    ck_assert(!cli_has_children());
    own_sh("! ls -d unseen-?????? 2>/dev/null");
}
END_TEST

TCase *own_error_case(void)
{
    TCase *tests = tcase_create("mistakes");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_mistake_is_told, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(tests, a_word_that_is_no_folder_of_a_problem_is_told);
    tcase_add_test(tests, a_folder_that_was_renamed_by_hand_is_told);
    tcase_add_test(tests, a_path_with_blanks_is_no_mistake);
    tcase_add_test(tests, without_a_compiler_it_is_the_environments_fault);
    tcase_add_test(tests, without_the_headers_of_mpfr_it_is_the_environments_fault);
    tcase_add_test(tests, an_interrupt_ends_the_compiler_and_leaves_nothing);
    return tests;
}
