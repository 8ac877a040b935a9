#include "captured.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct captured *add(struct captured_list *list)
{
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 64;
        struct captured *const item = realloc(list->item, (size_t)capacity * sizeof *item);
        if (!item)
            return NULL;
        list->item = item;
        list->capacity = capacity;
    }
    struct captured *const made = &list->item[list->count++];
    memset(made, 0, sizeof *made);
    made->calls = 1;
    return made;
}

/* Adds the last row to an equal one before it: a program repeats its calls, and a set counts them. */
static void merge_last(struct captured_list *list)
{
    const struct captured *const last = &list->item[list->count - 1];
    for (int i = 0; i < list->count - 1; i++) {
        struct captured *const one = &list->item[i];
        if (strcmp(one->operation, last->operation) != 0 || one->tensors != last->tensors ||
            memcmp(one->tensor, last->tensor, sizeof one->tensor) != 0 || one->axes != last->axes ||
            memcmp(one->axis, last->axis, sizeof one->axis) != 0)
            continue;
        one->calls += last->calls;
        list->count--;
        return;
    }
}

void captured_clear(struct captured_list *list)
{
    free(list->item);
    *list = (struct captured_list){.count = 0};
}

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

/* The profiler writes names of C++. */
static const char *torch_name(const char *name)
{
    static const char *const names[][2] = {{"float", "float32"},
                                           {"double", "float64"},
                                           {"c10::BFloat16", "bfloat16"},
                                           {"c10::Half", "float16"},
                                           {"int", "int32"},
                                           {"long", "int64"},
                                           {"long int", "int64"},
                                           {"signed char", "int8"},
                                           {"unsigned char", "uint8"},
                                           {"short", "int16"},
                                           {"c10::Float8_e4m3fn", "float8_e4m3fn"},
                                           {"short int", "int16"},
                                           {"c10::Float8_e5m2", "float8_e5m2"}};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return name && strncmp(name, "torch.", 6) == 0 ? name + 6 : name;
}

/* Adds a tensor. A shape is a list of whole numbers; all else is none. */
static void add_tensor(struct captured *row, const char *name, const json_t *shape, const char *dtype)
{
    struct captured_tensor made = {.rank = (int)json_array_size(shape)};
    if (!json_is_array(shape) || made.rank > PROBLEM_MAX_RANK)
        return;
    for (int d = 0; d < made.rank; d++) {
        const json_t *const extent = json_array_get(shape, (size_t)d);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            return;
        made.dim[d] = json_integer_value(extent);
    }
    copy(made.name, sizeof made.name, name);
    copy(made.dtype, sizeof made.dtype, torch_name(dtype));
    if (row->tensors < CAPTURED_TENSORS)
        row->tensor[row->tensors] = made;
    row->tensors++;
}

/* Arguments by name, each a tensor with `shape` and `dtype`, or something else. */
static void add_arguments(struct captured *row, const json_t *arguments)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)arguments, name, value) add_tensor(
        row, name, json_object_get(value, "shape"), json_string_value(json_object_get(value, "dtype")));
}

/* --- forms: each adds the rows of one value, or returns false if that is of another form --- */

/* FastKernels: {"operators": {NAME: {"forward": {"variants": [{"count", "args"}]}}}}. */
static bool read_captures(struct captured_list *list, const json_t *root)
{
    const json_t *const operators = json_object_get(root, "operators");
    const char *name;
    json_t *entry, *variant;
    size_t i;
    if (!json_is_object(operators))
        return false;
    json_object_foreach((json_t *)operators, name, entry)
        json_array_foreach(json_object_get(json_object_get(entry, "forward"), "variants"), i, variant)
    {
        struct captured *const row = add(list);
        const json_int_t count = json_integer_value(json_object_get(variant, "count"));
        if (!row)
            return true;
        copy(row->operation, sizeof row->operation, name);
        snprintf(row->where, sizeof row->where, "variant %zu", i + 1);
        row->calls = count > 0 ? count : 1;
        add_arguments(row, json_object_get(variant, "args"));
    }
    list->form = "captures of FastKernels";
    return true;
}

/* torch.profiler with record_shapes: {"traceEvents": [{"name", "args": {"Input Dims", "Input type"}}]}. */
static bool read_profile(struct captured_list *list, const json_t *root)
{
    const json_t *const events = json_object_get(root, "traceEvents");
    json_t *event, *dims;
    size_t i, k;
    if (!json_is_array(events))
        return false;
    json_array_foreach(events, i, event)
    {
        const json_t *const arguments = json_object_get(event, "args");
        const json_t *const shapes = json_object_get(arguments, "Input Dims");
        const json_t *const types = json_object_get(arguments, "Input type");
        struct captured *const row = json_array_size(shapes) > 0 ? add(list) : NULL;
        if (!row)
            continue;
        copy(row->operation, sizeof row->operation, json_string_value(json_object_get(event, "name")));
        snprintf(row->where, sizeof row->where, "event %zu", i + 1);
        json_array_foreach(shapes, k, dims) if (json_array_size(dims) > 0) /* numbers have none */
            add_tensor(row, NULL, dims, json_string_value(json_array_get(types, k)));
    }
    list->form = "a trace of torch.profiler";
    return true;
}

/* tritonparse: {"event_type": "launch", "name", "extracted_args": {NAME: {"type": "tensor", "shape"}}}. */
static bool read_launch(struct captured_list *list, const json_t *line, int number)
{
    const char *const type = json_string_value(json_object_get(line, "event_type"));
    if (!type)
        return false;
    list->form = "launches of tritonparse";
    struct captured *const row = strcmp(type, "launch") == 0 ? add(list) : NULL;
    if (!row)
        return true;
    const json_t *const name = json_object_get(line, "name");
    const json_t *const metadata = json_object_get(line, "compilation_metadata");
    copy(row->operation, sizeof row->operation,
         json_string_value(name ? name : json_object_get(metadata, "name")));
    snprintf(row->where, sizeof row->where, "line %d", number);
    add_arguments(row, json_object_get(line, "extracted_args"));
    merge_last(list);
    return true;
}

/* FlashInfer-Bench: {"definition", "workload": {"axes", "uuid"}}, or the workload alone. */
static bool read_workload(struct captured_list *list, const json_t *line, int number)
{
    const json_t *const inner = json_object_get(line, "workload");
    const json_t *const workload = inner ? inner : line;
    const json_t *const axes = json_object_get(workload, "axes");
    const char *name;
    json_t *value;
    if (!json_is_object(axes))
        return false;
    list->form = "workloads of FlashInfer-Bench";
    struct captured *const row = add(list);
    if (!row)
        return true;
    copy(row->operation, sizeof row->operation, json_string_value(json_object_get(line, "definition")));
    copy(row->workload, sizeof row->workload, json_string_value(json_object_get(workload, "uuid")));
    row->workload[strcspn(row->workload, " \t\r\n")] = '\0'; /* one word of a comment */
    snprintf(row->where, sizeof row->where, "line %d", number);
    json_object_foreach((json_t *)axes, name, value) if (json_is_integer(value) && row->axes < CAPTURED_AXES)
    {
        copy(row->axis[row->axes].name, sizeof row->axis[0].name, name);
        row->axis[row->axes++].value = json_integer_value(value);
    }
    return true;
}

/* --- the file --- */

static int fail(const char *path, int line, const char *found, char *text, size_t size)
{
    snprintf(text, size,
             "%.300s:%d: %.200s; expected captures of FastKernels, launches of tritonparse, a trace of "
             "torch.profiler with record_shapes, or workloads of FlashInfer-Bench\n---> give such a file",
             path, line, found);
    return -1;
}

static int read_lines(struct captured_list *list, FILE *in, const char *path, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    for (int number = 1; status == 0 && getline(&line, &room, in) >= 0; number++) {
        json_error_t error;
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        json_t *const value = json_loads(line, JSON_ALLOW_NUL, &error);
        if (!value)
            status = fail(path, number, error.text, text, size);
        else if (!read_launch(list, value, number) && !read_workload(list, value, number))
            status = fail(path, number, "a line of another form", text, size);
        json_decref(value);
    }
    free(line);
    return status;
}

/* A whole document, or lines. */
static int read_open(struct captured_list *list, FILE *in, const char *path, char *text, size_t size)
{
    json_error_t error;
    json_t *const root = json_loadf(in, JSON_ALLOW_NUL, &error);
    if (!root || !(json_object_get(root, "operators") || json_object_get(root, "traceEvents"))) {
        json_decref(root);
        rewind(in);
        return read_lines(list, in, path, text, size);
    }
    const bool known = read_captures(list, root) || read_profile(list, root);
    json_decref(root);
    return known ? 0 : fail(path, 1, "a document of another form", text, size);
}

int captured_read(struct captured_list *list, const char *path, bool *is_usage, char *text, size_t size)
{
    FILE *const in = fopen(path, "re");
    *list = (struct captured_list){.count = 0};
    *is_usage = true;
    if (!in) {
        snprintf(text, size,
                 "%.300s: cannot be read (%s); expected a file of captured shapes\n---> check the path", path,
                 strerror(errno));
        return -1;
    }
    int status = read_open(list, in, path, text, size);
    fclose(in);
    if (status == 0 && list->count == 0)
        status = fail(path, 1, "no captured shape", text, size);
    return status;
}
