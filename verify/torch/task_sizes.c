/* Names extents of a task's outputs that are no axis: a rule may say `out_dim2 != width`. */
#include <stdio.h>
#include <string.h>

#include "task_internal.h"

static int64_t size_of(const struct config *config, int index)
{
    int64_t value = 0;
    return expression_value(config->problem->task->size[index], config, &value) && value > 0 ? value : 0;
}

#define SIZE(index)                                                                                          \
    static int64_t size_##index(const struct config *config, struct random *shape_random,                    \
                                struct random *content_random)                                               \
    {                                                                                                        \
        (void)shape_random;                                                                                  \
        (void)content_random;                                                                                \
        return size_of(config, index);                                                                       \
    }
SIZE(0)
SIZE(1)
SIZE(2)
SIZE(3)

static int64_t (*const value_of[TASK_SIZES])(const struct config *, struct random *,
                                             struct random *) = {size_0, size_1, size_2, size_3};

/* Rules ask about products of axes without a name. */
static bool is_more_than_a_product(const struct constraint *extent)
{
    return strpbrk(constraint_text(extent), "+-/%") != NULL;
}

static bool is_listed(const struct imported *task, int count, const struct constraint *extent)
{
    for (int i = 0; i < count; i++)
        if (strcmp(constraint_text(task->size[i]), constraint_text(extent)) == 0)
            return true;
    return false;
}

/* Lists the axes of an extent. False: it has none, or more than a derived size may have. */
static bool list_axes(const struct imported *task, const struct constraint *extent, struct derived *out)
{
    int count = 0;
    for (int i = 0; task->axes[i].name; i++)
        if (constraint_mentions(extent, i)) {
            if (count == DERIVED_MAX_AXES)
                return false;
            out->axes[count++] = task->axes[i].name;
        }
    return count > 0;
}

static void add(struct imported *task, int *count, int tensor, int dim)
{
    const struct constraint *const extent = task->shape[tensor].dim[dim];
    struct derived *const out = &task->derived[*count];
    char *const name = task->size_name[*count];
    if (!is_more_than_a_product(extent) || is_listed(task, *count, extent) || !list_axes(task, extent, out)) {
        *out = (struct derived){.name = NULL};
        return;
    }
    snprintf(name, sizeof task->size_name[0], "%.40s_dim%d", task->tensors[tensor].name, dim);
    if (problem_axis_index(&task->problem, name) >= 0) {
        *out = (struct derived){.name = NULL};
        return;
    }
    out->name = name;
    out->over = DERIVED_EVERY;
    out->help = constraint_text(extent);
    out->value = value_of[*count];
    out->of_axes = true;
    task->size[(*count)++] = extent;
}

void task_sizes_list(struct imported *task)
{
    int count = 0;
    for (int t = 0; task->tensors[t].name; t++)
        for (int d = 0; task->tensors[t].role != TENSOR_INPUT && d < task->shape[t].rank; d++)
            if (count < TASK_SIZES)
                add(task, &count, t, d);
    if (count > 0)
        task->problem.derived = task->derived;
}

char *task_shape_text(const struct task_shape *shape)
{
    char text[TASK_TEXT] = "[";
    for (int i = 0; i < shape->rank; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", constraint_text(shape->dim[i]));
    }
    strncat(text, "]", sizeof text - strlen(text) - 1);
    return strdup(text);
}
