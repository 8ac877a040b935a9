#include "instantiate.h"

#include <stdio.h>
#include <stdlib.h>

#include "gen/random/pcg.h"

struct streams {
    struct pcg *shape, *content;
};

/* Returns false when out of memory; the caller must close the streams in any case. */
static bool streams_open(struct streams *streams, const struct config *config, int content)
{
    char purpose[96];
    snprintf(purpose, sizeof purpose, "%s/shape", config->problem->name);
    streams->shape = pcg_new(config->seed, purpose);
    snprintf(purpose, sizeof purpose, "%s/content/%d", config->problem->name, content);
    streams->content = pcg_new(config->seed, purpose);
    return streams->shape && streams->content;
}

static void streams_close(const struct streams *streams)
{
    pcg_free(streams->shape);
    pcg_free(streams->content);
}

/* Rounds fp32 scalars, so that the reference uses the same value as the candidate. */
static void round_scalars(const struct problem *problem, struct instance *instance)
{
    for (int i = 0; problem->arguments[i].name; i++)
        if (problem->arguments[i].type == ARGUMENT_F32)
            instance->scalar[i] = (double)(float)instance->scalar[i];
}

/* Sets the input class's fill of one tensor; the valid part of its storage is already set. */
static void set_fill(struct instance_tensor *tensor, const struct fill *drawn)
{
    struct fill fill = *drawn;
    fill.valid = tensor->fill.valid;
    fill.valids = tensor->fill.valids;
    fill.garbage_row = tensor->fill.garbage_row;
    fill.garbage_block = tensor->fill.garbage_block;
    tensor->fill = fill;
}

/* The distance of adjacent values of the type, in fp32 ulps; -1 for integer types. */
static int64_t neighbour_of(enum dtype dtype)
{
    const double unit = dtype_is_float(dtype) ? dtype_row(dtype)->unit : 0;
    return unit == 0 ? -1 : unit < 0x1p-24 ? 1 : (int64_t)(unit / 0x1p-24);
}

/* Fills in defaults: rows are the last dimension, and a scalar is a row of one element. */
static void set_defaults(struct instance_tensor *tensor, enum dtype dtype)
{
    if (tensor->fill.inner == 0)
        tensor->fill.inner = tensor->rank > 0 ? tensor->dim[tensor->rank - 1] : 1;
    if (tensor->fill.kind == FILL_DECISION && tensor->fill.step == 0)
        tensor->fill.step = neighbour_of(dtype);
}

/* Aborts if an input has no values: the problem's table of classes is wrong, and no run can repair it. */
static void require_fill(const struct config *config, const struct input_class *class, int tensor,
                         const struct instance_tensor *drawn)
{
    if (drawn->fill.kind != FILL_GIVEN || drawn->fill.given || instance_tensor_count(drawn) == 0)
        return;
    fprintf(stderr,
            "unseen: %s: input class %s has no fill for tensor %s; one for every input was expected\n"
            "---> give it one in the table of classes, or in `instantiate` for all classes\n",
            config->problem->name, class->name, config->problem->tensors[tensor].name);
    exit(2);
}

/* Ends the run if rows share a byte: the contract must not admit such a shape. */
static void require_whole_bytes(const struct config *config, int tensor, const struct instance_tensor *drawn)
{
    const struct tensor *known = &config->problem->tensors[tensor];
    const int64_t packed = dtype_packed(known->dtype), width = instance_tensor_width(drawn);
    if (width % packed == 0 && instance_tensor_pitch(drawn) % packed == 0)
        return;
    fprintf(
        stderr,
        "unseen: %s: %s has rows of %lld elements of %s; a multiple of %lld was expected, since rows must "
        "begin at whole bytes\n---> add a constraint to the contract\n",
        config->problem->name, known->name, (long long)width, dtype_row(known->dtype)->name,
        (long long)packed);
    exit(2);
}

static int draw_class(const struct config *config, struct random *random, struct instance *out)
{
    const struct problem *problem = config->problem;
    const struct input_class *class = &problem->classes[config->value[problem_input_axis(problem)]];
    int result = 0;
    out->data = class->data;
    for (int t = 0; problem->tensors[t].name; t++)
        if (class->fill[t].kind != FILL_GIVEN)
            set_fill(&out->tensor[t], &class->fill[t]);
    if (class->adjust)
        result = class->adjust(config, random, out);
    for (int t = 0; result == 0 && problem->tensors[t].name; t++) {
        if (problem->tensors[t].role != TENSOR_OUTPUT)
            require_fill(config, class, t, &out->tensor[t]);
        set_defaults(&out->tensor[t], problem->tensors[t].dtype);
    }
    return result;
}

int config_instantiate(const struct config *config, int content, struct instance *out)
{
    struct streams streams;
    int result = -1;
    *out = (struct instance){0};
    if (streams_open(&streams, config, content)) {
        struct random shape_random = pcg_random(streams.shape);
        struct random content_random = pcg_random(streams.content);
        result = config->problem->instantiate(config, &shape_random, &content_random, out);
        if (result == 0 && problem_input_axis(config->problem) >= 0)
            result = draw_class(config, &content_random, out);
    }
    if (result)
        instance_clear(out);
    else
        round_scalars(config->problem, out);
    for (int t = 0; result == 0 && config->problem->tensors[t].name; t++)
        require_whole_bytes(config, t, &out->tensor[t]);
    streams_close(&streams);
    return result;
}

int config_measure(const struct config *config, struct instance *out)
{
    struct streams streams;
    int result = -1;
    *out = (struct instance){0};
    if (streams_open(&streams, config, 0)) {
        struct random shape_random = pcg_random(streams.shape);
        struct random content_random = pcg_random(streams.content);
        result = config->problem->measure
                     ? config->problem->measure(config, &shape_random, out)
                     : config->problem->instantiate(config, &shape_random, &content_random, out);
    }
    if (result)
        instance_clear(out);
    streams_close(&streams);
    return result;
}

static int64_t derived_of(const struct derived *derived, const struct config *config, int content)
{
    struct streams streams;
    int64_t value = 0;
    if (streams_open(&streams, config, content)) {
        struct random shape_random = pcg_random(streams.shape);
        struct random content_random = pcg_random(streams.content);
        value = derived->value(config, &shape_random, &content_random);
    }
    streams_close(&streams);
    return value;
}

int64_t config_derived(const struct config *config, int index)
{
    const struct derived *derived = &config->problem->derived[index];
    if (derived->of_axes)
        return derived->value(config, NULL, NULL);
    int64_t value = derived_of(derived, config, 0);
    for (int i = 1; derived->over != DERIVED_EVERY && i < CHECKED_CONTENTS; i++) {
        const int64_t other = derived_of(derived, config, i);
        if (derived->over == DERIVED_GREATEST ? other > value : other < value)
            value = other;
    }
    return value;
}

double instance_total_bytes(const struct problem *problem, const struct instance *instance)
{
    double bytes = 0;
    for (int i = 0; problem->tensors[i].name; i++)
        bytes += (double)dtype_bytes(problem->tensors[i].dtype, instance_tensor_span(&instance->tensor[i]));
    return bytes;
}
