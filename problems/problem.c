#include "problem.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"

#define JUDGED(name, output) /* used by the reference only */
#define PROBLEM(name) extern const struct problem problem_##name;
#include "registry.def"
#undef PROBLEM

const struct problem *const problem_registry[] = {
#define PROBLEM(name) &problem_##name,
#include "registry.def"
#undef PROBLEM
#undef JUDGED
    NULL};

const struct problem *problem_find(const char *name)
{
    for (const struct problem *const *p = problem_registry; *p; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return NULL;
}

int problem_axis_count(const struct problem *problem)
{
    int n = 0;
    while (problem->axes[n].name)
        n++;
    return n;
}

int problem_axis_index(const struct problem *problem, const char *name)
{
    for (int i = 0; problem->axes[i].name; i++)
        if (strcmp(problem->axes[i].name, name) == 0)
            return i;
    return -1;
}

int problem_derived_index(const struct problem *problem, const char *name)
{
    for (int i = 0; problem->derived && problem->derived[i].name; i++)
        if (strcmp(problem->derived[i].name, name) == 0)
            return i;
    return -1;
}

const char *problem_choice(const struct problem *problem, int axis, int64_t i)
{
    const char *const *choices = problem->axes[axis].choices;
    return choices ? choices[i] : problem->classes[i].name;
}

int problem_input_axis(const struct problem *problem)
{
    for (int i = 0; problem->axes[i].name; i++)
        if (problem->axes[i].kind == AXIS_CHOICE && !problem->axes[i].choices)
            return i;
    return -1;
}

int problem_choice_index(const struct problem *problem, int axis, const char *name)
{
    const char *choice;
    for (int i = 0; (choice = problem_choice(problem, axis, i)) != NULL; i++)
        if (strcmp(choice, name) == 0)
            return i;
    return -1;
}

int problem_tensor_count(const struct problem *problem)
{
    int n = 0;
    while (problem->tensors[n].name)
        n++;
    return n;
}

int problem_tensor_index(const struct problem *problem, const char *name)
{
    for (int t = 0; problem->tensors[t].name; t++)
        if (strcmp(problem->tensors[t].name, name) == 0)
            return t;
    return -1;
}

int problem_first_output(const struct problem *problem)
{
    int t = 0;
    while (problem->tensors[t].role == TENSOR_INPUT)
        t++;
    return t;
}

int problem_argument_count(const struct problem *problem)
{
    int n = 0;
    while (problem->arguments[n].name)
        n++;
    return n;
}

int64_t config_value(const struct config *config, const char *axis)
{
    int i = problem_axis_index(config->problem, axis);
    if (i < 0)
        abort(); /* a problem asked for an axis that its own table lacks */
    return config->value[i];
}

bool config_chose(const struct config *config, const char *axis, const char *choice)
{
    int i = problem_axis_index(config->problem, axis);
    if (i < 0 || config->problem->axes[i].kind != AXIS_CHOICE)
        abort();
    return strcmp(problem_choice(config->problem, i, config->value[i]), choice) == 0;
}

int64_t instance_tensor_count(const struct instance_tensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++)
        n *= tensor->dim[i];
    return n;
}

int64_t instance_tensor_width(const struct instance_tensor *tensor)
{
    return tensor->rank > 0 ? tensor->dim[tensor->rank - 1] : 1;
}

int64_t instance_tensor_pitch(const struct instance_tensor *tensor)
{
    return tensor->pitch ? tensor->pitch : instance_tensor_width(tensor);
}

int64_t instance_tensor_span(const struct instance_tensor *tensor)
{
    const int64_t count = instance_tensor_count(tensor), width = instance_tensor_width(tensor);
    return count == 0 ? 0 : (count / width - 1) * instance_tensor_pitch(tensor) + width;
}

int64_t instance_tensor_place(const struct instance_tensor *tensor, int64_t element)
{
    return format_place(instance_tensor_width(tensor), tensor->pitch, element);
}

void instance_clear(struct instance *instance)
{
    for (int i = 0; i < PROBLEM_MAX_TENSORS; i++) {
        struct fill *fill = &instance->tensor[i].fill;
        free(fill->given);
        free(fill->start);
        free(fill->valid);
    }
    memset(instance, 0, sizeof *instance);
}
