/* Arguments of forward that a task computes from sizes: 1 / sqrt(head_dim). task/scalar.py of unseen_torch
 * finds them. */
#include <math.h>
#include <string.h>

#include "task_internal.h"

static double linear(double x)
{
    return x;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

task_form *task_scalar_form(const char *name)
{
    static const struct {
        const char *name;
        task_form *form;
    } forms[] = {{"linear", linear}, {"reciprocal", reciprocal},
                 {"rsqrt", rsqrt},   {"sqrt", sqrt},
                 {"log2", log2},     {"log", log}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0)
            return forms[i].form;
    return NULL;
}

bool imported_scalar(const struct imported *task, size_t i, const struct config *config, double *value)
{
    int64_t of;
    const struct task_scalar *const scalar = i < PROBLEM_MAX_TENSORS ? &task->scalar[i] : NULL;
    if (!scalar || !scalar->of || !expression_value(scalar->of, config, &of))
        return false;
    *value = scalar->factor * scalar->form((double)of);
    return true;
}
