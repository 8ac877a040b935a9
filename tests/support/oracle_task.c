#include "oracle_task.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- a task: y = 2 x, and where x is greatest --- */

static const struct axis axes[] = {
    {"n", AXIS_NUMBER, NULL, "elements"}, {"input", AXIS_CHOICE, NULL, "how x is drawn"}, {0}};
static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                        {"y", DTYPE_F32, TENSOR_OUTPUT, "[n]"},
                                        {"at", DTYPE_I64, TENSOR_OUTPUT, "[1]"},
                                        {0}};
static const struct argument arguments[] = {{"n", ARGUMENT_I64}, {0}};
static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}}},
    {"ties", DATA_ANY, "all alike", .fill = {[X] = {.kind = FILL_UNIFORM, .a = 1, .b = 1}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t n = config_value(config, "n");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {n},
        .tensor = {{.rank = 1, .dim = {n}}, {.rank = 1, .dim = {n}}, {.rank = 1, .dim = {1}}},
        .flops = (double)n,
        .bytes = 8.0 * (double)n};
    return 0;
}

char task_folder[64];
static struct problem_oracle task = {task_folder, "how.task", "tests/python/fixture_oracle.py"};
const struct problem task_doubled = {.name = "doubled",
                                     .summary = "y = 2 x",
                                     .arithmetic = "fp32",
                                     .axes = axes,
                                     .tensors = tensors,
                                     .arguments = arguments,
                                     .classes = classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .published_atol = 1e-4,
                                     .published_rtol = 1e-4,
                                     .instantiate = instantiate,
                                     .oracle = &task};

void task_put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", task_folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

void task_make(void)
{
    strcpy(task_folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(task_folder));
}

void task_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", task_folder);
    ck_assert_int_eq(system(command), 0);
}

bool task_has_python(void)
{
    return system("python3 -I -c 'import mmap' >/dev/null 2>&1") == 0;
}

const char *task_torch(void)
{
    const char *const given = getenv("UNSEEN_TEST_PYTHON"), *const python =
                                                                given ? given : "build/venv/bin/python";
    char command[512];
    snprintf(command, sizeof command, "'%s' -c 'import torch' >/dev/null 2>&1", python);
    return system(command) == 0 ? python : NULL;
}
