#include "instantiate.h"

#include <stdio.h>

#include "pcg.h"

int config_instantiate(const struct config *config, int content, struct instance *out)
{
    const struct problem *problem = config->problem;
    char purpose[96];
    int result = -1;

    *out = (struct instance){0};
    snprintf(purpose, sizeof purpose, "%s/shape", problem->name);
    struct pcg *shape = pcg_new(config->seed, purpose);
    snprintf(purpose, sizeof purpose, "%s/content/%d", problem->name, content);
    struct pcg *contents = pcg_new(config->seed, purpose);
    if (shape && contents) {
        struct random shape_random = pcg_random(shape), content_random = pcg_random(contents);
        result = problem->instantiate(config, &shape_random, &content_random, out);
    }
    if (result)
        instance_clear(out);
    pcg_free(shape);
    pcg_free(contents);
    return result;
}

double instance_total_bytes(const struct problem *problem, const struct instance *instance)
{
    double bytes = 0;
    for (int i = 0; problem->tensors[i].name; i++)
        bytes += (double)instance_tensor_count(&instance->tensor[i]) *
                 (double)dtype_size(problem->tensors[i].dtype);
    return bytes;
}
