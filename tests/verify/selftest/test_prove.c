/* A definition's own test (verify/selftest). Every registered problem passes it. Copies of two of them that
 * are broken on purpose do not, each for the right reason. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tests/contract/scaled.h"
#include "forms.h"
#include "share.h"
#include "suites.h"
#include "verify/selftest/prove.h"

static struct device device;
static struct prove_report report;
static char
    *printed; /* the report in words: reports of problems that are broken on purpose stay out of a log that
               * people search */

static void print_report(const struct prove_options *options)
{
    size_t length;
    FILE *text = open_memstream(&printed, &length);
    ck_assert_ptr_nonnull(text);
    prove_print(text, options, &report, true);
    ck_assert_int_eq(fclose(text), 0);
    ck_assert_int_eq(strstr(printed, "FAILED") == NULL, prove_passes(&report));
}

static void prove(const struct prove_options *asked)
{
    char error[512];
    struct prove_options options = *asked;
    ck_assert_msg(device_open(&device, "host", error, sizeof error) == 0, "%s", error);
    options.device = &device;
    options.seed = 1;
    options.timeout = 20;
    options.kernels = 1;
    ck_assert_msg(prove_run(&options, &report) == PROVE_DONE, "%s", report.error);
    print_report(&options);
}

static void clear(void)
{
    prove_clear(&report);
    free(printed);
}

START_TEST(every_registered_definition_passes)
{
    const struct prove_options options = {.problem = problem_registry[_i], .sizes = 2};
    SHARE_TEST(_i, 4);
    prove(&options);
    if (!prove_passes(&report))
        fputs(printed, stdout);
    ck_assert_msg(prove_passes(&report), "%s", problem_registry[_i]->name);
    ck_assert_int_ge(report.check[PROVE_ENCLOSURE].asked, 10);
    ck_assert_int_ge(report.check[PROVE_OFF].asked, 10);
    ck_assert_int_ge(report.check[PROVE_NULLS].asked, 10);
    ck_assert_int_ge(report.kernel_count, 2);
    ck_assert_int_ge(report.class_count, 1);
    clear();
}
END_TEST

/* --- broken definitions --- */

enum { MOST_CLASSES = 32 };

/* A copy of a problem, and the data of the functions that replace its own. */
static struct broken {
    struct problem problem;
    struct reference reference;
    struct input_class class[MOST_CLASSES];
    const struct problem *original;
    const struct reference *right;
    double loosened;
} broken;

static void copy(const char *name)
{
    broken.original = problem_find(name);
    broken.right = reference_find(broken.original, problem_first_output(broken.original));
    broken.problem = *broken.original;
    broken.reference = *broken.right;
    broken.reference.problem = &broken.problem;
    for (int c = 0; broken.original->classes[c].name; c++)
        broken.class[c] = broken.original->classes[c];
    broken.problem.classes = broken.class;
}

static struct input_class *class_of(const char *name)
{
    return &broken.class[problem_choice_index(&broken.problem, problem_input_axis(&broken.problem), name)];
}

/* An error function times a number. */
static int judge_loosened(const struct judge_request *request, struct judge_report *out)
{
    struct judge_request with = *request;
    with.loosened = broken.loosened * (request->loosened > 0 ? request->loosened : 1);
    return broken.right->judge_host(&with, out);
}

/* Mathematics that drop the last term of every row of softmax: exp(-inf). */
static float *drop_last(const struct judge_request *request, struct judge_request *with)
{
    const int64_t rows = request->context.extent[0], cols = request->context.extent[1];
    float *x = malloc((size_t)(rows * cols) * sizeof *x);
    ck_assert_ptr_nonnull(x);
    memcpy(x, request->context.tensor[0], (size_t)(rows * cols) * sizeof *x);
    for (int64_t r = 0; r < rows && cols > 1; r++)
        x[r * cols + cols - 1] = -INFINITY;
    *with = *request;
    with->context.tensor[0] = x;
    return x;
}

/* The same with the row before in place of each: a wrong index. */
static float *turn_rows(const struct judge_request *request, struct judge_request *with)
{
    const int64_t rows = request->context.extent[0], cols = request->context.extent[1];
    const float *from = request->context.tensor[0];
    float *x = malloc((size_t)(rows * cols) * sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < rows * cols; i++)
        x[i] = from[(i + cols) % (rows * cols)];
    *with = *request;
    with->context.tensor[0] = x;
    return x;
}

static float *(*change)(const struct judge_request *request, struct judge_request *with);

static int judge_changed(const struct judge_request *request, struct judge_report *out)
{
    struct judge_request with;
    float *x = change(request, &with);
    const int error = broken.right->judge_host(&with, out);
    free(x);
    return error;
}

static int witness_changed(const struct judge_request *request, const struct judged *const *element,
                           struct witnessed *answer, int count)
{
    struct judge_request with;
    float *x = change(request, &with);
    const int error = broken.right->witness_list(&with, element, answer, count);
    free(x);
    return error;
}

static void change_mathematics(float *(*how)(const struct judge_request *, struct judge_request *))
{
    change = how;
    broken.reference.judge_host = judge_changed;
    broken.reference.witness_list = witness_changed;
}

static void loosen(double factor)
{
    broken.loosened = factor;
    broken.reference.judge_host = judge_loosened;
}

/* The output that it calls right differs from the one that it judges by. */
static int expect_changed(const struct judge_request *request, struct judge_report *out)
{
    return request->expected ? judge_changed(request, out) : broken.right->judge_host(request, out);
}

static int accept_all(const struct judge_request *request, struct judge_report *out)
{
    struct judge_request with = *request;
    with.wrong = NULL;
    const int error = broken.right->judge_host(&with, out);
    out->wrong = out->open = 0;
    return error;
}

/* Counts work by another formula than the instance's. */
static int measure_twice(const struct config *config, struct random *shape_random, struct instance *out)
{
    const int result = broken.original->instantiate(config, shape_random, shape_random, out);
    out->flops *= 2;
    return result;
}

/* An argument that depends on the content. */
static int instantiate_by_content(const struct config *config, struct random *shape_random,
                                  struct random *content_random, struct instance *out)
{
    const int result = broken.original->instantiate(config, shape_random, content_random, out);
    out->bytes += (double)random_below(content_random, 1000);
    return result;
}

static void break_value(void)
{
    change_mathematics(drop_last);
}

static void break_index(void)
{
    change_mathematics(turn_rows);
}

static void break_witness(void)
{
    change = drop_last;
    broken.reference.witness_list = witness_changed;
}

static void break_bound_4(void)
{
    loosen(4);
}

static void break_bound_quarter(void)
{
    loosen(0.25);
}

static void break_bound_half(void)
{
    loosen(0.5);
}

static void break_bound_huge(void)
{
    loosen(1e30);
}

static void break_expected(void)
{
    change = drop_last;
    broken.reference.judge_host = expect_changed;
}

static void break_judge(void)
{
    broken.reference.judge_host = accept_all;
}

static void break_measure(void)
{
    broken.problem.measure = measure_twice;
}

static void break_content(void)
{
    broken.problem.instantiate = instantiate_by_content;
}

static void break_class_constant(void)
{
    class_of("normal")->fill[0] = (struct fill){.kind = FILL_CONSTANT, .a = 1};
}

/* Terms of 24 bits, whose sum in single differs from order to order. */
static void break_class_exact(void)
{
    class_of("normal")->data = DATA_EXACT;
}

/* No class is called sharp, and none is. */
static void break_worth(void)
{
    for (int c = 0; broken.class[c].name; c++)
        broken.class[c].discriminating = 0;
    break_bound_huge();
}

static void break_output(void)
{
    static struct tensor tensors[PROBLEM_MAX_TENSORS];
    int t = 0;
    for (; broken.original->tensors[t].name; t++)
        tensors[t] = broken.original->tensors[t];
    tensors[t] = (struct tensor){"sums", DTYPE_F32, TENSOR_OUTPUT, "[rows]"};
    broken.problem.tensors = tensors;
}

static const struct {
    const char *problem;
    void (*how)(void);
    enum prove_check check;
    const char *found; /* part of its message */
} breakages[] = {
    {"softmax", break_value, PROVE_KERNELS, "baseline.c: wrong"},
    {"softmax", break_index, PROVE_KERNELS, "baseline.c: wrong"},
    {"softmax", break_witness, PROVE_ENCLOSURE, "MPFR"},
    {"softmax", break_bound_4, PROVE_PINNED, "times the pinned"},
    {"softmax", break_bound_quarter, PROVE_PINNED, "0.25 times the pinned"},
    {"gemm_f32", break_bound_4, PROVE_PINNED, "times the pinned"},
    {"gemm_f32", break_bound_quarter, PROVE_PINNED, "times the pinned"},
    {"gemm_f32", break_bound_half, PROVE_PINNED, "times the pinned"},
    {"softmax", break_bound_huge, PROVE_NULLS, "accepted in all"},
    {"softmax", break_bound_huge, PROVE_CLASSES, "class needle"},
    {"softmax", break_worth, PROVE_CLASSES, "class normal: allowed error"},
    {"softmax", break_expected, PROVE_RIGHT, "rejected"},
    {"softmax", break_judge, PROVE_OFF, "accepted"},
    {"softmax", break_measure, PROVE_INSTANCES, "by `measure`"},
    {"softmax", break_content, PROVE_INSTANCES, "by another content"},
    {"softmax", break_class_constant, PROVE_CLASSES,
     "class normal: every floating-point input is one number"},
    {"gemm_f32", break_class_exact, PROVE_EXACT, "class normal"},
    {"softmax", break_output, PROVE_DEFINITION, "the output sums"},
};
enum { BREAKAGES = sizeof breakages / sizeof *breakages };

START_TEST(a_broken_definition_goes_red_and_says_what)
{
    const struct prove_options options = {.problem = &broken.problem, .sizes = 3};
    SHARE_TEST(_i, 3);
    copy(breakages[_i].problem);
    breakages[_i].how();
    ck_assert(reference_add(&broken.reference));
    prove(&options);
    const struct prove_finding *finding = &report.check[breakages[_i].check];
    ck_assert_int_gt(finding->failures, 0);
    ck_assert_msg(strstr(finding->found, breakages[_i].found), "%s", finding->found);
    ck_assert_int_gt((int)strlen(finding->expected), 10);
    clear();
}
END_TEST

/* --- files --- */

/* A file of our own, of that text. */
static void write_file(char path[32], const char *text)
{
    snprintf(path, 32, "/tmp/unseen-prove-XXXXXX");
    const int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_seen_line_outside_the_contract_goes_red)
{
    char path[32];
    const struct prove_options options = {.problem = problem_find("softmax"), .seen = path, .sizes = 1};
    write_file(path, "rows=3 cols=7 input=normal\nrows=70000 cols=3 input=normal\n");
    prove(&options);
    remove(path);
    ck_assert_int_eq(report.check[PROVE_SEEN].failures, 1);
    ck_assert_ptr_nonnull(strstr(report.check[PROVE_SEEN].found, ":2: "));
    clear();
}
END_TEST

START_TEST(a_class_that_the_contract_lacks_goes_red)
{
    char path[32];
    const struct prove_options options = {.problem = problem_find("softmax"), .space = path, .sizes = 1};
    write_file(path, "rows 1..64\ncols 1..300000\ninput normal extreme large\n");
    prove(&options);
    remove(path);
    ck_assert_ptr_nonnull(strstr(report.check[PROVE_DEFINITION].found, "the class digits is never drawn"));
    clear();
}
END_TEST

/* --- small problems of every form, right but without folders and kernels --- */

static const struct {
    const struct problem *problem;
    const char *space, *seen;
} forms[] = {
    {&problem_pool,
     "channels 1..64\nheight 1..64\nwidth 1..64\nwindow 1 3 5 7\nstride 1..4\ninput normal integers\n",
     "channels=3 height=9 width=9 window=3 stride=1"},
    {&problem_norm, "vectors 1..999\nn 1..9999\ninput normal wide\n", "vectors=8 n=4096"},
    {&problem_extremes, "rows 1..99\ncols 1..999\ninput normal integers\n", "rows=8 cols=64"},
    {&problem_append, "tokens 1..64\nslots 1..99\ndim 1..200\ninput normal special\nlimit tokens <= slots\n",
     "tokens=8 slots=64 dim=128"},
    {&problem_fp4, "rows 1..99\nblocks 1..40\ninput normal large\n", "rows=8 blocks=8"},
    {&problem_scaled_f16, NULL, "rows=64 cols=64 gap_x=0 gap_y=0 negate=0"},
};
enum { FORMS = sizeof forms / sizeof *forms };

START_TEST(a_problem_of_any_form_is_asked_everything_but_its_kernels)
{
    char space[32] = "tests/contract/scaled.space", seen[32];
    const struct prove_options options = {
        .problem = forms[_i].problem, .space = space, .seen = seen, .sizes = 6};
    forms_add();
    reference_add(&reference_scaled_f16);
    if (forms[_i].space)
        write_file(space, forms[_i].space);
    write_file(seen, forms[_i].seen);
    prove(&options);
    remove(seen);
    if (forms[_i].space)
        remove(space);
    for (int c = 0; c < PROVE_CHECKS; c++)
        ck_assert_msg((report.check[c].failures > 0) == (c == PROVE_KERNELS), "%s: %s",
                      forms[_i].problem->name, report.check[c].found);
    ck_assert_int_ge(report.check[PROVE_ENCLOSURE].asked, 40);
    ck_assert_int_ge(report.check[PROVE_OFF].asked, 30);
    clear();
}
END_TEST

/* --- the command --- */

START_TEST(the_command_says_what_it_found_in_words_and_as_json)
{
    json_error_t error;
    CLI("selftest", "gemm_bf16", "--device", "host", "--effort", "quick", "--json", "p.json");
    cli_expect(0, "gemm_bf16: every check passed");
    cli_expect(0, "1.37439e+11");
    json_t *root = json_load_file("p.json", 0, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    const json_t *class = json_array_get(json_object_get(root, "classes"), 1);
    ck_assert(json_is_true(json_object_get(root, "ok")) && json_is_false(json_object_get(root, "partial")));
    ck_assert_int_eq(json_array_size(json_object_get(root, "checks")), PROVE_CHECKS);
    ck_assert_str_eq(json_string_value(json_object_get(class, "class")), "integers");
    ck_assert(json_real_value(json_object_get(class, "allowed_over_value")) == 0);
    ck_assert(json_is_false(json_object_get(class, "tells_nothing")));
    ck_assert_int_eq(json_array_size(json_object_get(root, "telling")),
                     json_integer_value(json_object_get(root, "configs")));
    json_decref(root);
}
END_TEST

static void expect_refusal(int status, const char *in_error)
{
    ck_assert_int_eq(cli.status, status);
    ck_assert_msg(strstr(cli.err, in_error) && strstr(cli.err, "--->"), "%s", cli.err);
}

START_TEST(what_cannot_be_asked_is_refused)
{
    CLI("selftest", "nothing", "--device", "host");
    expect_refusal(2, "'nothing'");
    CLI("selftest", "softmax", "--device", "host", "--contract", "none.space");
    expect_refusal(2, "none.space");
    CLI("selftest", "softmax", "--device", "host", "--json", "nowhere/p.json");
    expect_refusal(3, "nowhere");
    CLI("selftest", "softmax", "--device", "foo");
    cli_expect_error(2, "--device foo", "expected host, cuda or cuda:N", "--device host");
    CLI("selftest", "softmax", "topk");
    expect_refusal(2, "unexpected argument");
}
END_TEST

static TCase *command_case(void)
{
    TCase *command = tcase_create("command");
    tcase_add_checked_fixture(command, cli_setup, cli_teardown);
    tcase_add_test(command, the_command_says_what_it_found_in_words_and_as_json);
    tcase_add_test(command, what_cannot_be_asked_is_refused);
    tcase_set_timeout(command, 120);
    return command;
}

Suite *prove_suite(void)
{
    Suite *suite = suite_create("prove");
    TCase *registered = tcase_create("registered"), *red = tcase_create("broken");
    int count = 0;
    while (problem_registry[count])
        count++;
    tcase_add_loop_test(registered, every_registered_definition_passes, 0, count);
    tcase_add_loop_test(red, a_broken_definition_goes_red_and_says_what, 0, BREAKAGES);
    tcase_add_test(red, a_seen_line_outside_the_contract_goes_red);
    tcase_add_loop_test(red, a_problem_of_any_form_is_asked_everything_but_its_kernels, 0, FORMS);
    tcase_add_test(red, a_class_that_the_contract_lacks_goes_red);
    tcase_set_timeout(registered, 120);
    tcase_set_timeout(red, 120);
    suite_add_tcase(suite, registered);
    suite_add_tcase(suite, red);
    suite_add_tcase(suite, command_case());
    return suite;
}
