#include "workloads.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "reports/record/workload_uuid.h"

json_t *workload_sizes(const struct config *config)
{
    json_t *sizes = json_object();
    for (int i = 0; config->problem->axes[i].name; i++)
        if (config->problem->axes[i].kind == AXIS_NUMBER)
            json_object_set_new(sizes, config->problem->axes[i].name, json_integer(config->value[i]));
    return sizes;
}

bool workload_same_sizes(const struct config *a, const struct config *b)
{
    for (int i = 0; a->problem->axes[i].name; i++)
        if (a->problem->axes[i].kind == AXIS_NUMBER && a->value[i] != b->value[i])
            return false;
    return true;
}

/* --- FlashInfer-Bench --- */

void workload_write(FILE *out, const char *definition, const struct config *config, json_t *inputs)
{
    char uuid[WORKLOAD_UUID_SIZE], text[1024];
    config_format(config, text, sizeof text);
    workload_uuid(uuid, definition, text);
    json_t *line =
        json_pack("{s:s, s:{s:s, s:o, s:o}, s:n, s:n}", "definition", definition, "workload", "uuid", uuid,
                  "axes", workload_sizes(config), "inputs", inputs, "solution", "evaluation");
    char *dumped = json_dumps(line, JSON_COMPACT);
    fprintf(out, "%s\n", dumped ? dumped : "");
    free(dumped);
    json_decref(line);
}

/* --- gpu-mode --- */

void workload_letters(char *out, size_t size, const char *name)
{
    size_t n = 0;
    for (; *name && n + 1 < size; name++)
        if (isalpha((unsigned char)*name))
            out[n++] = *name;
        else if (isdigit((unsigned char)*name))
            out[n++] = (char)('A' + *name - '0');
    out[n] = '\0';
}

void workload_write_test(FILE *out, const struct config *config, const char *input)
{
    const struct problem *const problem = config->problem;
    const int inputs = problem_input_axis(problem);
    for (int i = 0; problem->axes[i].name; i++) {
        char name[64], choice[64];
        workload_letters(name, sizeof name, problem->axes[i].name);
        if (problem->axes[i].kind == AXIS_NUMBER) {
            fprintf(out, "%s: %lld; ", name, (long long)config->value[i]);
        } else if (i != inputs) {
            workload_letters(choice, sizeof choice, problem_choice(problem, i, config->value[i]));
            fprintf(out, "%s: %s; ", name, choice);
        } else if (!input) {
            input = problem_choice(problem, i, config->value[i]);
        }
    }
    if (input) {
        char letters[64];
        workload_letters(letters, sizeof letters, input);
        fprintf(out, "input: %s; ", letters);
    }
    fprintf(out, "seed: %llu\n", (unsigned long long)config->seed);
}
