#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "task_internal.h"

const char *imported_folder(const struct imported *task)
{
    return task->folder;
}

const char *imported_file(const struct imported *task)
{
    return task->file;
}

const char *imported_source(const struct imported *task)
{
    return task->source;
}

const char *imported_entry(const struct imported *task)
{
    const char *entry = json_string_value(json_object_get(task->root, "entry"));
    return entry ? entry : "Model";
}

int imported_weights(const struct imported *task)
{
    return task->weights;
}

int imported_ring(const struct imported *task, int axis)
{
    return task->axes[axis].kind == AXIS_NUMBER ? task->ring[axis] : 0;
}

bool imported_noted(const struct imported *task, const char *kind)
{
    json_t *note;
    size_t i;
    json_array_foreach(json_object_get(task->root, "notes"), i, note)
    {
        const char *found = json_string_value(json_object_get(note, "kind"));
        if (found && strcmp(found, kind) == 0)
            return true;
    }
    return false;
}

bool imported_number(const struct imported *task, size_t i, const struct config *config, int64_t *value)
{
    return i < PROBLEM_MAX_TENSORS && task->number[i] && expression_value(task->number[i], config, value);
}

const struct json_t *imported_description(const struct imported *task)
{
    return task->root;
}

static void free_shape(struct task_shape *shape)
{
    for (int i = 0; i < PROBLEM_MAX_RANK; i++)
        constraint_free(shape->dim[i]);
}

void imported_free(struct imported *task)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++) {
        free_shape(&task->shape[t]);
        constraint_free(task->bound[t]);
        constraint_free(task->least[t]);
        constraint_free(task->number[t]);
        constraint_free(task->scalar[t].of);
        if (t != task->weights && task->tensors[t].name)
            free((char *)(uintptr_t)task->tensors[t].shape);
        for (int c = 0; c < TASK_MAX_CLASSES; c++)
            task_table_free(task->fill[c][t].table);
    }
    for (int i = 0; i < task->weight_count; i++)
        free_shape(&task->weight[i]);
    free(task->weight);
    free((char *)(uintptr_t)task->problem.name);
    free((char *)(uintptr_t)task->problem.summary);
    json_decref(task->root);
    free(task);
}
