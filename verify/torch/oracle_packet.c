/* Builds requests to the oracle's process, in JSON, and parses its answers, in lines. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_internal.h"
#include "task.h"
#include "verify/device/memory.h"
#include "verify/sandbox/resource_usage.h"

static char *dumped(json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* Returns whether memory suffices for the process to keep freed memory until an answer is complete. For
 * tensors of many MiB it then holds half as much again, and takes half the time. */
static bool has_plenty(void)
{
    static const double enough = 16.0 * (1 << 30);
    return fmin((double)memory_of(BACKEND_HOST)->available(), 2 * resource_usage_default().bytes) >= enough;
}

char *oracle_hello(const struct oracle_options *options)
{
    const struct problem_oracle *task = options->problem->oracle;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", task->folder, task->description);
    return dumped(json_pack("{s:s, s:s, s:i, s:b}", "task", path, "device", options->cuda ? "cuda" : "cpu",
                            "threads", options->threads > 0 ? options->threads : 1, "plenty", has_plenty()));
}

static json_t *shape_of(const struct instance_tensor *tensor)
{
    json_t *shape = json_array();
    for (int d = 0; d < tensor->rank; d++)
        json_array_append_new(shape, json_integer(tensor->dim[d]));
    return shape;
}

static json_t *tensor_of(const struct problem *problem, const struct instance *instance, int t)
{
    return json_pack("{s:s, s:s, s:o}", "name", problem->tensors[t].name, "dtype",
                     dtype_row(problem->tensors[t].dtype)->in_torch, "shape", shape_of(&instance->tensor[t]));
}

static json_t *sizes_of(const struct problem *problem, const struct instance *instance)
{
    json_t *sizes = json_object();
    for (int i = 0; i < problem_argument_count(problem); i++)
        json_object_set_new(sizes, problem->arguments[i].name, json_integer(instance->extent[i]));
    return sizes;
}

char *oracle_wish(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, const int64_t *at)
{
    json_t *inputs = json_array();
    for (int t = 0; t < problem_tensor_count(problem); t++)
        if (at[t] >= 0) {
            json_t *tensor = tensor_of(problem, instance, t);
            json_object_set_new(tensor, "at", json_integer(at[t]));
            json_array_append_new(inputs, tensor);
        }
    return dumped(json_pack("{s:I, s:s, s:o, s:o}", "make", (json_int_t)wish->seed, "class", wish->class,
                            "sizes", sizes_of(problem, instance), "inputs", inputs));
}

char *oracle_pair(const struct problem *problem, const struct instance *before, const struct instance *after)
{
    return dumped(json_pack("{s:[o, o]}", "admits", sizes_of(problem, before), sizes_of(problem, after)));
}

char *oracle_packet(const struct problem *problem, const struct instance *instance,
                    const struct oracle_layout *layout)
{
    json_t *sizes = sizes_of(problem, instance), *inputs = json_array(), *outputs = json_array();
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        const enum tensor_role role = problem->tensors[t].role;
        json_t *tensor = tensor_of(problem, instance, t);
        if (role != TENSOR_OUTPUT) {
            json_object_set_new(tensor, "at", json_integer(layout->at[t]));
            json_array_append_new(inputs, tensor);
        }
        if (role == TENSOR_INPUT)
            continue;
        if (role == TENSOR_INOUT)
            tensor = tensor_of(problem, instance, t);
        json_object_set_new(tensor, "got",
                            json_integer(role == TENSOR_INOUT ? layout->after[t] : layout->at[t]));
        json_object_set_new(tensor, "want", json_integer(layout->want[t]));
        json_object_set_new(tensor, "allowed", json_integer(layout->allowed[t]));
        json_array_append_new(outputs, tensor);
    }
    return dumped(json_pack("{s:o, s:o, s:o, s:b}", "sizes", sizes, "inputs", inputs, "outputs", outputs,
                            "returned", (int)layout->returned));
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static enum oracle_status nonsense(const char *answer, struct oracle_answer *out)
{
    snprintf(
        out->text, sizeof out->text,
        "the oracle answered '%.100s', which is not what this version asks for\n---> is verify/torch of the "
        "same version as this program?",
        answer);
    return ORACLE_FAILED;
}

static bool read_output(const char *line, struct oracle_output *output)
{
    char value[16], allowed[16], varies[16], open[16] = "";
    char one[128];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
    if (sscanf(one, "%15s %15s %15s %lf %15s", value, allowed, varies, &output->relative, open) < 4)
        return false;
    output->open = strcmp(open, "open") == 0;
    output->enclosed = strcmp(value, "enclosed") == 0;
    output->ensemble = strcmp(allowed, "ensemble") == 0;
    output->constant = strcmp(varies, "constant") == 0;
    return true;
}

enum oracle_status oracle_read(const struct problem *problem, const char *answer, struct oracle_answer *out)
{
    static const struct {
        const char *word;
        enum oracle_status status;
    } others[] = {{"dropped ", ORACLE_UNTOLD}, {"short ", ORACLE_SHORT}, {"failed ", ORACLE_FAILED}};
    const char *line = next_line(answer);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(answer, others[i].word, strlen(others[i].word)) == 0) {
            snprintf(out->text, sizeof out->text, "%.800s", answer + strlen(others[i].word));
            return others[i].status;
        }
    if (strncmp(answer, "ok", 2) != 0)
        return nonsense(answer, out);
    for (int t = problem_first_output(problem); problem->tensors[t].name; t++) {
        if (problem->tensors[t].role == TENSOR_INPUT)
            continue;
        if (!read_output(line, &out->output[t]))
            return nonsense(answer, out);
        line = next_line(line);
    }
    return ORACLE_OK;
}
