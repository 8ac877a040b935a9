/* Imported tasks through a session, a part of the suite oracle_task. It asks for right answers, judges the
 * worst element, and ends where no answer is available. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forms_session.h"
#include "oracle_task.h"
#include "skip.h"
#include "suites.h"

/* A candidate for the task, `after` behind honest work. */
#define DOUBLED(after)                                                                                       \
    "#include <stdint.h>\n#include <string.h>\n"                                                             \
    "int doubled(const float *x, float *y, int64_t *at, int64_t n, void *stream)\n"                          \
    "{ *at = 0; for (int64_t i = 0; i < n; i++) { y[i] = 2 * x[i]; if (x[i] >= x[*at]) *at = i; }\n" after   \
    " return 0; }\n"

static const struct {
    const char *how, *line, *source;
    enum outcome outcome;
    const char *detail;
    bool witnessed;
} candidates[] = {
    {"honest", "n=700 input=normal seed=3", DOUBLED(""), OUTCOME_PASS, ""},
    {"honest", "n=700 input=ties seed=3", DOUBLED(""), OUTCOME_PASS, ""}, /* the last among equals is as
                                                                           * right */
    {"honest", "n=700 input=normal seed=3", DOUBLED("y[n - 1] = 0;"), OUTCOME_WRONG,
     "1 of 700 elements of y wrong, the first at [699]", true},
    {"graphless", "n=700 input=normal seed=3", DOUBLED("y[n - 1] = 0;"), OUTCOME_WRONG,
     "1 of 700 elements of y wrong, the first at [699]", false},
    {"honest", "n=700 input=normal seed=3", DOUBLED("*at = (*at + 1) % n;"), OUTCOME_WRONG,
     "1 of 1 elements of at wrong"},
    {"honest", "n=700 input=normal seed=3", DOUBLED("*at = n;"), OUTCOME_WRONG, "of at wrong"},
    {"untold", "n=700 input=normal seed=3", DOUBLED(""), OUTCOME_SKIPPED, "three samples say nothing"},
};

START_TEST(a_session_asks)
{
    struct form_run run;
    if (!task_has_python())
        SKIP_TEST("no python3");
    task_make();
    task_put("how.task", candidates[_i].how);
    form_run_open(&run, &task_doubled, candidates[_i].line, candidates[_i].source, false);
    form_run_check(&run, candidates[_i].outcome);
    ck_assert_msg(strstr(run.result.detail, candidates[_i].detail), "%s", run.result.detail);
    ck_assert_int_eq(run.result.worst.witnessed, candidates[_i].witnessed);
    ck_assert_int_eq(run.result.oracle_quality.present, candidates[_i].outcome != OUTCOME_SKIPPED);
    ck_assert(!run.result.oracle_quality.ensemble && !run.result.oracle_quality.fp64 &&
              !run.result.oracle_quality.constant);
    if (candidates[_i].outcome == OUTCOME_SKIPPED)
        ck_assert_int_eq(run.result.reason.cause, CAUSE_NO_REFERENCE);
    form_run_close(&run);
    task_remove();
}
END_TEST

static const struct {
    const char *how, *says;
} breaks[] = {
    {"late", "ended with status 9"},
    {"contradicts",
     "internal error: element 699 of y (n=700 input=normal seed=3), call 0: the graph in fp64 gives"},
    {"unsealed", "the graph that came is no graph"},
};

START_TEST(a_session_breaks)
{
    struct form_run run;
    if (!task_has_python())
        SKIP_TEST("no python3");
    task_make();
    task_put("how.task", breaks[_i].how);
    form_run_open(&run, &task_doubled, candidates[2].line, candidates[2].source, false);
    memset(&run.result, 0, sizeof run.result);
    ck_assert_int_eq(session_check(run.session, &run.config, &run.result), SESSION_BROKEN);
    ck_assert_msg(strstr(session_error(run.session), breaks[_i].says), "%s", session_error(run.session));
    form_run_close(&run);
    task_remove();
}
END_TEST

/* --- all of it --- */

static const struct axis layer_axes[] = {{"rows", AXIS_NUMBER, NULL, "of x"},
                                         {"n", AXIS_NUMBER, NULL, "of a row"},
                                         {"m", AXIS_NUMBER, NULL, "of a row of y"},
                                         {"input", AXIS_CHOICE, NULL, "how x is drawn"},
                                         {0}};
static const struct tensor layer_tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[rows, n]"},
                                              {"weights", DTYPE_F32, TENSOR_INPUT, "[m * n + m]"},
                                              {"y", DTYPE_F32, TENSOR_OUTPUT, "[rows, m]"},
                                              {0}};
static const struct argument layer_arguments[] = {
    {"rows", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"m", ARGUMENT_I64}, {0}};
static const struct input_class layer_classes[] = {
    {"normal", DATA_ANY, "as they come",
     .fill = {{.kind = FILL_NORMAL, .b = 1}, {.kind = FILL_NORMAL, .b = 1}}},
    {0}};

static int layer_instantiate(const struct config *config, struct random *shape_random,
                             struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), n = config_value(config, "n"),
                  m = config_value(config, "m");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {rows, n, m},
                             .tensor = {{.rank = 2, .dim = {rows, n}},
                                        {.rank = 1, .dim = {m * n + m}},
                                        {.rank = 2, .dim = {rows, m}}},
                             .flops = 2.0 * (double)(rows * n * m),
                             .bytes = 4.0 * (double)(rows * n)};
    return 0;
}

static const struct problem_oracle layer_task = {task_folder, "layer.task", NULL};
static const struct problem layer = {.name = "layer",
                                     .summary = "y = relu(x w + b)",
                                     .arithmetic = "fp32",
                                     .axes = layer_axes,
                                     .tensors = layer_tensors,
                                     .arguments = layer_arguments,
                                     .classes = layer_classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .instantiate = layer_instantiate,
                                     .oracle = &layer_task};

static const char layer_source[] =
    "import torch\nfrom torch import nn\n"
    "class Model(nn.Module):\n"
    "    def __init__(self, n, m):\n        super().__init__()\n        self.layer = nn.Linear(n, m)\n"
    "    def forward(self, x):\n        return torch.relu(self.layer(x))\n"
    "rows = 16\nn = 8\nm = 4\n"
    "def get_inputs():\n    return [torch.rand(rows, n)]\n"
    "def get_init_inputs():\n    return [n, m]\n";
static const char layer_description[] =
    "{\"task\":1,\"name\":\"layer\",\"entry\":\"Model\",\"source\":{\"file\":\"source.py\"},\"axes\":["
    "{\"name\":\"rows\",\"sizes\":[\"rows\"]},{\"name\":\"n\",\"sizes\":[\"n\"]},{\"name\":\"m\",\"sizes\":["
    "\"m\"]}],"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"float32\",\"shape\":[\"rows\",\"n\"]}],\"weights\":["
    "{\"name\":\"layer.weight\",\"dtype\":\"float32\",\"shape\":[\"m\",\"n\"],\"kind\":\"weight\",\"scale\":"
    "0.5,"
    "\"shift\":0.25},"
    "{\"name\":\"layer.bias\",\"dtype\":\"float32\",\"shape\":[\"m\"],\"kind\":\"bias\",\"scale\":1,"
    "\"shift\":0}]}";

/* Sums of `terms` terms; the weights follow the task's description. */
#define LAYER(terms)                                                                                         \
    "#include <stdint.h>\n"                                                                                  \
    "int layer(const float *x, const float *w, float *y, int64_t rows, int64_t n, int64_t m, void "          \
    "*stream)\n"                                                                                             \
    "{ for (int64_t r = 0; r < rows; r++) for (int64_t j = 0; j < m; j++) { float sum = w[m * n + j];\n"     \
    "  for (int64_t i = 0; i < " terms "; i++) { float scaled = w[j * n + i] * 0.5f; scaled += 0.25f;\n"     \
    "    sum += x[r * n + i] * scaled; } y[r * m + j] = sum > 0 ? sum : 0; } return 0; }\n"

/* A Python with torch, or NULL. */
static const char *torch_python(void)
{
    char command[512];
    const char *const given = getenv("UNSEEN_TEST_PYTHON"), *const python =
                                                                given ? given : "build/venv/bin/python";
    snprintf(command, sizeof command, "'%s' -c 'import torch' >/dev/null 2>&1", python);
    return system(command) == 0 ? python : NULL;
}

START_TEST(an_imported_task_is_judged)
{
    struct form_run run;
    const char *const python = torch_python();
    if (!python)
        SKIP_TEST("no Python with torch");
    if (access(PYTHON_START, R_OK) != 0)
        SKIP_TEST("no unseen_torch");
    task_make();
    task_put("source.py", layer_source);
    task_put("layer.task", layer_description);
    form_run_python(python);
    form_run_open(&run, &layer, "rows=70 n=33 m=9 seed=4", LAYER("n"), false);
    form_run_check(&run, OUTCOME_PASS);
    ck_assert(run.result.oracle_quality.present && !run.result.oracle_quality.fp64 &&
              !run.result.oracle_quality.constant);
    form_run_close(&run);
    form_run_open(&run, &layer, "rows=70 n=33 m=9 seed=4", LAYER("n - 1"), false);
    form_run_check(&run, OUTCOME_WRONG);
    ck_assert(run.result.worst.witnessed);
    form_run_close(&run);
    form_run_python(NULL);
    task_remove();
}
END_TEST

/* --- one-byte outputs, whose poison may be a stored value --- */

static const struct axis bytes_axes[] = {
    {"n", AXIS_NUMBER, NULL, "of x"}, {"input", AXIS_CHOICE, NULL, "how x is drawn"}, {0}};
static const struct tensor bytes_tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[n]"}, {"y", DTYPE_U8, TENSOR_OUTPUT, "[n]"}, {0}};
static const struct argument bytes_arguments[] = {{"n", ARGUMENT_I64}, {0}};
static const struct input_class bytes_classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {{.kind = FILL_NORMAL, .b = 1}}}, {0}};

static int bytes_instantiate(const struct config *config, struct random *shape_random,
                             struct random *content_random, struct instance *out)
{
    const int64_t n = config_value(config, "n");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {n},
                             .tensor = {{.rank = 1, .dim = {n}}, {.rank = 1, .dim = {n}}},
                             .flops = (double)n,
                             .bytes = 5.0 * (double)n};
    return 0;
}

static const struct problem_oracle bytes_task = {task_folder, "bytes.task", NULL};
static const struct problem bytes = {.name = "bytes",
                                     .summary = "y = 16 x, rounded",
                                     .arithmetic = "fp32",
                                     .axes = bytes_axes,
                                     .tensors = bytes_tensors,
                                     .arguments = bytes_arguments,
                                     .classes = bytes_classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .instantiate = bytes_instantiate,
                                     .oracle = &bytes_task};
static const char bytes_source[] =
    "import torch\nfrom torch import nn\n"
    "class Model(nn.Module):\n    def forward(self, x):\n"
    "        return (x * 16).round().clamp(0, 100).to(torch.uint8)\n"
    "n = 16\ndef get_inputs():\n    return [torch.randn(n)]\ndef get_init_inputs():\n    return []\n";
static const char bytes_description[] =
    "{\"task\":1,\"name\":\"bytes\",\"entry\":\"Model\",\"source\":{\"file\":\"source.py\"},\"axes\":["
    "{\"name\":\"n\",\"sizes\":[\"n\"]}],\"inputs\":[{\"name\":\"x\",\"dtype\":\"float32\",\"shape\":[\"n\"]}"
    "],"
    "\"weights\":[]}";

/* Rounds, and stores 0xa5, which is the poison, where a condition holds. */
#define BYTES(more, where)                                                                                   \
    "#include <math.h>\n#include <stdint.h>\n"                                                               \
    "int bytes(const float *x, uint8_t *y, int64_t n, void *stream)\n"                                       \
    "{ for (int64_t i = 0; i < n; i++) { float v = rintf(16 * x[i]); v = v < 0 ? 0 : v > 100 ? 100 : v;\n"   \
    "  y[i] = (uint8_t)v" more "; if (" where ") y[i] = 0xa5; } return 0; }\n"

static const struct {
    const char *source;
    enum outcome outcome;
} byte_cases[] = {{BYTES("", "i >= n - 60"), OUTCOME_UNWRITTEN},
                  {BYTES(" + 1", "i % 200 == 7"), OUTCOME_WRONG}};

START_TEST(a_wrong_byte_may_be_the_poison)
{
    struct form_run run;
    const char *const python = torch_python();
    if (!python)
        SKIP_TEST("no Python with torch");
    task_make();
    task_put("source.py", bytes_source);
    task_put("bytes.task", bytes_description);
    form_run_python(python);
    form_run_open(&run, &bytes, "n=700 input=normal seed=4", byte_cases[_i].source, false);
    form_run_check(&run, byte_cases[_i].outcome);
    form_run_close(&run);
    form_run_python(NULL);
    task_remove();
}
END_TEST

TCase *oracle_session_case(void)
{
    TCase *session = tcase_create("session");
    tcase_set_timeout(session, 120);
    tcase_add_loop_test(session, a_session_asks, 0, sizeof candidates / sizeof *candidates);
    tcase_add_loop_test(session, a_session_breaks, 0, sizeof breaks / sizeof *breaks);
    tcase_add_test(session, an_imported_task_is_judged);
    tcase_add_loop_test(session, a_wrong_byte_may_be_the_poison, 0, sizeof byte_cases / sizeof *byte_cases);
    return session;
}
