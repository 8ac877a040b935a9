#include "export_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/util/version.h"
#include "workloads.h"

enum { LINE = 1024 };

const char *export_name(int format)
{
    static const char *const names[] = {"json", "csv", "python", "flashinfer", "gpumode", "arena", NULL};
    return names[format];
}

const struct drawn *export_at(const struct export_set *set, int i, const char **name, int *place)
{
    const struct drawn_list *const seen = &set->task->seen_set, *const unseen = &set->task->unseen_set;
    const bool first = i < seen->count;
    *name = first ? "seen" : "unseen";
    *place = first ? i + 1 : i - seen->count + 1;
    if (first)
        return &seen->item[i];
    return set->seen_only || i - seen->count >= unseen->count ? NULL : &unseen->item[i - seen->count];
}

void export_file(char *path, size_t size, const struct tensor_file_format *as, const char *name, int place,
                 const char *tensor)
{
    if (as->together)
        snprintf(path, size, "%s-%d.%s", name, place, as->name);
    else
        snprintf(path, size, "%s-%d/%s.%s", name, place, tensor, as->name);
}

/* --- one configuration --- */

static json_t *values_of(const struct config *config)
{
    json_t *values = json_object();
    for (int i = 0; config->problem->axes[i].name; i++)
        json_object_set_new(values, config->problem->axes[i].name,
                            config->problem->axes[i].kind == AXIS_NUMBER
                                ? json_integer(config->value[i])
                                : json_string(problem_choice(config->problem, i, config->value[i])));
    return values;
}

static json_t *arguments_of(const struct problem *problem, const struct instance *instance)
{
    json_t *arguments = json_object();
    for (int i = 0; problem->arguments[i].name; i++) {
        const enum argument_type type = problem->arguments[i].type;
        json_object_set_new(arguments, problem->arguments[i].name,
                            type == ARGUMENT_F32 || type == ARGUMENT_F64 ? json_real(instance->scalar[i])
                            : type == ARGUMENT_BOOL ? json_boolean(instance->extent[i] != 0)
                                                    : json_integer(instance->extent[i]));
    }
    return arguments;
}

/* `file` is the file of the tensor, and `stored` the dtype's name in it; NULL: the tensor is not written. */
static json_t *tensor_json(const struct tensor *tensor, const struct instance_tensor *made, const char *file,
                           const char *stored)
{
    static const char *const roles[] = {
        [TENSOR_INPUT] = "input", [TENSOR_OUTPUT] = "output", [TENSOR_INOUT] = "inout"};
    json_t *shape = json_array();
    for (int d = 0; d < made->rank; d++)
        json_array_append_new(shape, json_integer(made->dim[d]));
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:o, s:I, s:i}", "name", tensor->name, "role", roles[tensor->role],
                  "dtype", dtype_row(tensor->dtype)->name, "shape", shape, "pitch",
                  (json_int_t)instance_tensor_pitch(made), "align", made->align ? made->align : 16);
    if (json && file)
        json_object_update_new(json, json_pack("{s:s, s:s}", "file", file, "stored", stored));
    return json;
}

static json_t *tensors_of(const struct export_set *set, const struct instance *instance, const char *name,
                          int place)
{
    const struct tensor *const tensors = set->task->problem->tensors;
    json_t *list = json_array();
    for (int t = 0; tensors[t].name; t++) {
        char file[160];
        const bool stored = set->inputs && tensors[t].role != TENSOR_OUTPUT;
        if (stored)
            export_file(file, sizeof file, set->as, name, place, tensors[t].name);
        json_array_append_new(list, tensor_json(&tensors[t], &instance->tensor[t], stored ? file : NULL,
                                                stored ? set->as->type(tensors[t].dtype) : NULL));
    }
    return list;
}

/* NULL: out of memory. */
static json_t *config_json(const struct export_set *set, int i)
{
    const char *name;
    int place;
    char line[LINE];
    struct instance instance;
    const struct drawn *const drawn = export_at(set, i, &name, &place);
    if (config_measure(&drawn->config, &instance) != 0)
        return NULL;
    config_format(&drawn->config, line, sizeof line);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:o, s:o}", "set", name, "line", line, "why", drawn->why, "values",
        values_of(&drawn->config), "seed", (json_int_t)drawn->config.seed, "arguments",
        arguments_of(set->task->problem, &instance), "tensors", tensors_of(set, &instance, name, place));
    instance_clear(&instance);
    return json;
}

static json_t *set_json(const struct export_set *set)
{
    const struct task *const task = set->task;
    json_t *const list = json_array();
    const char *name;
    int place;
    for (int i = 0; export_at(set, i, &name, &place); i++)
        if (json_array_append_new(list, config_json(set, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:i, s:{s:s, s:s}, s:s, s:s, s:s, s:I, s:o, s:s?, s:s?, s:o}", "export", 1, "tool",
                     "version", UNSEEN_VERSION, "git", unseen_git, "problem", task->problem->name,
                     "arithmetic", task->problem->arithmetic, "device", task->device.name, "seed",
                     (json_int_t)task->seed, "commitment",
                     set->seen_only ? json_null() : json_string(task->commitment), "inputs", set->inputs,
                     "inputs_as", set->inputs ? set->as->name : NULL, "configurations", list);
}

/* --- formats --- */

static int write_json(FILE *out, const struct export_set *set)
{
    json_t *const json = set_json(set);
    char *const text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    free(text);
    json_decref(json);
    return text ? 0 : -1;
}

/* Writes a Python literal; JSON string syntax is valid in Python. */
static void put_python(FILE *out, const json_t *value)
{
    const char *key, *comma = "";
    json_t *item;
    size_t i;
    if (json_is_object(value)) {
        fputc('{', out);
        json_object_foreach((json_t *)value, key, item)
        {
            fprintf(out, "%s\"%s\": ", comma, key);
            put_python(out, item);
            comma = ", ";
        }
        fputc('}', out);
    } else if (json_is_array(value)) {
        fputc('[', out);
        json_array_foreach(value, i, item)
        {
            fputs(comma, out);
            put_python(out, item);
            comma = ", ";
        }
        fputc(']', out);
    } else if (json_is_boolean(value) || json_is_null(value)) {
        fputs(json_is_null(value) ? "None" : json_is_true(value) ? "True" : "False", out);
    } else {
        char *const text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        fputs(text ? text : "None", out);
        free(text);
    }
}

static int write_python(FILE *out, const struct export_set *set)
{
    json_t *const json = set_json(set), *value;
    const char *key;
    size_t i;
    if (!json)
        return -1;
    fprintf(out, "\"\"\"Configurations of %s, by unseen export.\"\"\"\n\n", set->task->problem->name);
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "configurations") == 0)
            continue;
        for (const char *c = key; *c; c++)
            fputc(*c == '_' ? '_' : *c - 'a' + 'A', out);
        fputs(" = ", out);
        put_python(out, value);
        fputc('\n', out);
    }
    fputs("\nCONFIGURATIONS = [\n", out);
    json_array_foreach(json_object_get(json, "configurations"), i, value)
    {
        fputs("    ", out);
        put_python(out, value);
        fputs(",\n", out);
    }
    fputs("]\n", out);
    json_decref(json);
    return 0;
}

/* The written names, numbers and reasons (in the tool's own words) contain no quotes, so none is doubled. */
static void put_shape(FILE *out, const struct tensor *tensor, const struct instance_tensor *made)
{
    fprintf(out, ",\"%s[", dtype_row(tensor->dtype)->name);
    for (int d = 0; d < made->rank; d++)
        fprintf(out, "%s%lld", d ? "," : "", (long long)made->dim[d]);
    fputs("]\"", out);
}

static int write_csv(FILE *out, const struct export_set *set)
{
    const struct problem *const problem = set->task->problem;
    const char *name;
    int place;
    fputs("set,line,why,seed", out);
    for (int i = 0; problem->axes[i].name; i++)
        fprintf(out, ",%s", problem->axes[i].name);
    for (int t = 0; problem->tensors[t].name; t++)
        fprintf(out, ",tensor %s", problem->tensors[t].name);
    fputc('\n', out);
    const struct drawn *drawn;
    for (int i = 0; (drawn = export_at(set, i, &name, &place)) != NULL; i++) {
        char line[LINE];
        struct instance instance;
        if (config_measure(&drawn->config, &instance) != 0)
            return -1;
        config_format(&drawn->config, line, sizeof line);
        fprintf(out, "%s,%s,\"%s\",%llu", name, line, drawn->why, (unsigned long long)drawn->config.seed);
        for (int k = 0; problem->axes[k].name; k++)
            if (problem->axes[k].kind == AXIS_NUMBER)
                fprintf(out, ",%lld", (long long)drawn->config.value[k]);
            else
                fprintf(out, ",%s", problem_choice(problem, k, drawn->config.value[k]));
        for (int t = 0; problem->tensors[t].name; t++)
            put_shape(out, &problem->tensors[t], &instance.tensor[t]);
        fputc('\n', out);
        instance_clear(&instance);
    }
    return 0;
}

/* Inputs of a definition besides its axes: tensors, and numbers that are no axis. */
static json_t *workload_inputs(const struct config *config)
{
    const struct problem *const problem = config->problem;
    struct instance instance;
    if (config_measure(config, &instance) != 0)
        return NULL;
    json_t *const inputs = json_object(), *const arguments = arguments_of(problem, &instance);
    for (int t = 0; problem->tensors[t].name; t++)
        if (problem->tensors[t].role != TENSOR_OUTPUT)
            json_object_set_new(inputs, problem->tensors[t].name, json_pack("{s:s}", "type", "random"));
    for (int i = 0; problem->arguments[i].name; i++)
        if (problem_axis_index(problem, problem->arguments[i].name) < 0)
            json_object_set_new(inputs, problem->arguments[i].name,
                                json_pack("{s:s, s:O}", "type", "scalar", "value",
                                          json_object_get(arguments, problem->arguments[i].name)));
    json_decref(arguments);
    instance_clear(&instance);
    return inputs;
}

/* Inputs are "random" in that format, so configurations that differ only in seed and choices are one
 * workload. */
static bool is_repeated(const struct export_set *set, int i, const struct config *config)
{
    const char *name;
    int place;
    for (int k = 0; k < i; k++)
        if (workload_same_sizes(&export_at(set, k, &name, &place)->config, config))
            return true;
    return false;
}

static int write_lines(FILE *out, const struct export_set *set, enum export_format format)
{
    const struct drawn *drawn;
    const char *name;
    int place;
    for (int i = 0; (drawn = export_at(set, i, &name, &place)) != NULL; i++) {
        if (format == EXPORT_GPUMODE) {
            workload_write_test(out, &drawn->config, NULL);
        } else if (!is_repeated(set, i, &drawn->config)) {
            json_t *const inputs = workload_inputs(&drawn->config);
            if (!inputs)
                return -1;
            workload_write(out, set->task->problem->name, &drawn->config, inputs);
        }
    }
    return 0;
}

int export_write(FILE *out, const struct export_set *set, enum export_format format)
{
    switch (format) {
    case EXPORT_JSON: return write_json(out, set);
    case EXPORT_CSV: return write_csv(out, set);
    case EXPORT_PYTHON: return write_python(out, set);
    default: return write_lines(out, set, format);
    }
}
