/* The lists of shapes, in the words of the benchmarks that take them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harden.h"
#include "workloads.h"
#include "verify/torch/task.h"

static const struct trial_config *config_at(const struct hardened *h, int place)
{
    return &h->trial->drawn.item[h->chosen[place]];
}

/* --- Python --- */

static const json_t *axis_sizes(const struct hardened *h, const char *axis)
{
    json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(imported_description(h->trial->task->problem->task), "axes"), i,
                       entry) if (strcmp(json_string_value(json_object_get(entry, "name")), axis) ==
                                  0) return json_object_get(entry, "sizes");
    return NULL;
}

/* "M": 64, "N": 3: by the names of the source's constants, of which an axis may move several. */
static const char *write_moved(FILE *out, const struct hardened *h, const struct config *config)
{
    const char *comma = "";
    for (int i = 0; config->problem->axes[i].name; i++) {
        json_t *size;
        size_t k;
        if (config->problem->axes[i].kind != AXIS_NUMBER)
            continue;
        json_array_foreach(axis_sizes(h, config->problem->axes[i].name), k, size)
        {
            fprintf(out, "%s\"%s\": %lld", comma, json_string_value(size), (long long)config->value[i]);
            comma = ", ";
        }
    }
    return comma;
}

/* The module's constants that stay: who reads a whole shape finds them, too. */
static void write_fixed(FILE *out, const struct hardened *h, const char *comma)
{
    json_t *size;
    size_t i;
    json_array_foreach(json_object_get(imported_description(h->trial->task->problem->task), "sizes"), i, size)
    {
        const char *const where = json_string_value(json_object_get(size, "where"));
        if (!where || strcmp(where, "module") != 0 || json_is_string(json_object_get(size, "axis")))
            continue;
        fprintf(out, "%s\"%s\": %lld", comma, json_string_value(json_object_get(size, "name")),
                (long long)json_integer_value(json_object_get(size, "value")));
        comma = ", ";
    }
}

static void write_shape(FILE *out, const struct hardened *h, const struct config *config, bool whole)
{
    fprintf(out, "    {");
    const char *const comma = write_moved(out, h, config);
    if (whole)
        write_fixed(out, h, comma);
    fprintf(out, "},\n");
}

void harden_write_module(FILE *out, const struct hardened *h)
{
    fputs(h->trial->module, out);
    fprintf(out, "\n# Smallest first; what each is for is in HARDEN.md.\nSHAPES = [\n");
    for (int i = 0; i < h->count; i++)
        write_shape(out, h, &config_at(h, i)->config, false);
    fprintf(out, "]\nINPUTS = [");
    for (int i = 0; i < h->count; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", config_at(h, i)->input);
    fprintf(out, "]\nSEEDS = [");
    for (int i = 0; i < h->count; i++)
        fprintf(out, "%s%llu", i ? ", " : "", (unsigned long long)config_at(h, i)->config.seed);
    fprintf(out, "]\n# (atol, rtol) between any two honest implementations in the declared "
                 "arithmetic\nTOLERANCES = [");
    for (int i = 0; i < h->count; i++)
        fprintf(out, "%s(%.9g, %.9g)", i ? ", " : "", config_at(h, i)->atol, config_at(h, i)->rtol);
    fprintf(out, "]\n\n\nif __name__ == \"__main__\":\n    import sys\n    sys.exit(main(sys.argv))\n");
}

/* Two configurations that differ in their inputs alone are one shape there. */
static bool is_repeated(const struct hardened *h, int place)
{
    for (int i = 0; i < place; i++)
        if (workload_same_sizes(&config_at(h, i)->config, &config_at(h, place)->config))
            return true;
    return false;
}

void harden_write_shapes(FILE *out, const struct hardened *h)
{
    fprintf(out,
            "\"\"\"Shapes of %s, by unseen harden: smallest first. What each is for is in "
            "HARDEN.md.\"\"\"\n\nSHAPES = [\n",
            h->name);
    for (int i = 0; i < h->count; i++)
        if (!is_repeated(h, i))
            write_shape(out, h, &config_at(h, i)->config, true);
    fprintf(out, "]\n");
}

/* --- FlashInfer-Bench --- */

static json_t *workload_inputs(const struct hardened *h, const struct config *config)
{
    const struct imported *const task = h->trial->task->problem->task;
    const json_t *root = imported_description(task);
    int64_t number;
    double real;
    json_t *inputs = json_object(), *entry;
    size_t i;
    json_array_foreach(json_object_get(root, "inputs"), i, entry)
    {
        const char *const name = json_string_value(json_object_get(entry, "name"));
        if (json_object_get(entry, "shape"))
            json_object_set_new(inputs, name, json_pack("{s:s}", "type", "random"));
        else if (imported_number(task, i, config, &number))
            json_object_set_new(inputs, name,
                                json_pack("{s:s, s:I}", "type", "scalar", "value", (json_int_t)number));
        else if (imported_scalar(task, i, config, &real))
            json_object_set_new(inputs, name, json_pack("{s:s, s:f}", "type", "scalar", "value", real));
        else
            json_object_set_new(
                inputs, name,
                json_pack("{s:s, s:O}", "type", "scalar", "value", json_object_get(entry, "value")));
    }
    json_array_foreach(json_object_get(root, "weights"), i, entry)
    {
        char name[256];
        snprintf(name, sizeof name, "%s", json_string_value(json_object_get(entry, "name")));
        for (char *c = name; *c; c++)
            *c = isalnum((unsigned char)*c) ? *c : '_';
        json_object_set_new(inputs, name, json_pack("{s:s}", "type", "random"));
    }
    return inputs;
}

void harden_write_workloads(FILE *out, const struct hardened *h)
{
    for (int i = 0; i < h->count; i++)
        if (!is_repeated(h, i))
            workload_write(out, h->name, &config_at(h, i)->config,
                           workload_inputs(h, &config_at(h, i)->config));
}

/* --- gpu-mode --- */

void harden_write_tests(FILE *out, const struct hardened *h)
{
    for (int i = 0; i < h->count; i++)
        workload_write_test(out, &config_at(h, i)->config, config_at(h, i)->input);
}
