/* One configuration laid out, computed by a program with switches, and judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/device/memory.h"
#include "verify/isolate/invoke.h"
#include "margins.h"

/* What a run holds; everything is released by `clear`. */
struct layout {
    struct instance instance;
    struct judge_request request;
    void *tensor[PROBLEM_MAX_TENSORS], *unrounded;
    size_t bytes[PROBLEM_MAX_TENSORS];
    int64_t elements; /* of the judged output */
};

static void clear(const struct bed *bed, struct layout *l)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        if (l->tensor[t])
            bed->memory->release(l->tensor[t]);
    if (l->unrounded)
        bed->memory->release(l->unrounded);
    instance_clear(&l->instance);
}

/* Inputs filled with content 0, outputs poisoned. */
static int lay_tensors(const struct bed *bed, const struct config *config, struct layout *l)
{
    const struct tensor *tensor = bed->problem->tensors;
    int error = 0;
    for (int t = 0; tensor[t].name && !error; t++) {
        l->bytes[t] = (size_t)instance_tensor_span(&l->instance.tensor[t]) * dtype_size(tensor[t].dtype);
        error = bed->memory->take(&l->tensor[t], l->bytes[t] + 16);
        if (!error)
            error = bed->memory->poison(l->tensor[t], l->bytes[t], memory_poison(tensor[t].dtype));
        if (!error && tensor[t].role != TENSOR_OUTPUT)
            error = bed->memory->fill(bed->problem, &l->instance, t, config->seed, 0, l->tensor[t]);
        l->request.context.tensor[t] = l->tensor[t];
    }
    l->elements = instance_tensor_count(&l->instance.tensor[bed->output]);
    return error;
}

static void make_request(const struct bed *bed, struct layout *l)
{
    struct judge_request *r = &l->request;
    r->output = bed->output;
    r->got = l->tensor[bed->output];
    r->width = instance_tensor_width(&l->instance.tensor[bed->output]);
    r->pitch = l->instance.tensor[bed->output].pitch;
    r->problem = bed->problem;
    memcpy(r->context.extent, l->instance.extent, sizeof r->context.extent);
    memcpy(r->context.scalar, l->instance.scalar, sizeof r->context.scalar);
    r->context.data = l->instance.data;
    r->context.e4m3 = reference_e4m3();
    r->loosened = bed->loosened;
    r->poison = memory_poison_element(bed->problem->tensors[r->output].dtype);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        r->sample[s] = l->elements * (2 * s + 1) / (2 * JUDGE_SAMPLES);
    error_arithmetics(bed->problem, bed->capability, &r->arithmetics);
}

static int call(const struct bed *bed, const struct program *p, const struct layout *l)
{
    struct invocation invocation;
    invoke_begin(&invocation, p->call);
    for (int t = 0; bed->problem->tensors[t].name; t++)
        invoke_pointer(&invocation, l->tensor[t]);
    for (int i = 0; bed->problem->arguments[i].name; i++) {
        const struct channel_argument argument = argument_of(bed->problem, &l->instance, i);
        invoke_argument(&invocation, &argument);
    }
    invoke_pointer(&invocation, NULL);
    *p->unrounded = l->unrounded;
    return invoke_ready(&invocation) && invoke_call(&invocation) == 0 ? 0 : -2;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double telling_of(const struct judge_report *report)
{
    double ratio[JUDGE_SAMPLES];
    int count = 0;
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        if (report->sample[s].index >= 0 && isfinite(report->sample[s].mid) && report->sample[s].mid != 0)
            ratio[count++] = report->sample[s].allowed / fabs(report->sample[s].mid);
    qsort(ratio, (size_t)count, sizeof *ratio, ascending);
    return count ? ratio[count / 2] : 0;
}

static int judge(const struct bed *bed, struct layout *l, struct judge_report *report)
{
    return bed->device->backend == BACKEND_CUDA ? bed->reference->judge_cuda(&l->request, report)
                                                : bed->reference->judge_host(&l->request, report);
}

static int run(const struct bed *bed, const struct program *p, const struct config *config, struct layout *l,
               struct margin *margin)
{
    int error = lay_tensors(bed, config, l);
    const size_t wide = (size_t)l->elements * sizeof(double);
    if (!error && !bed->reference->discrete && bed->output == problem_first_output(bed->problem))
        error = bed->memory->take(&l->unrounded, wide);
    if (!error && l->unrounded)
        error = bed->memory->poison(l->unrounded, wide, memory_poison(DTYPE_F32));
    if (error)
        return error;
    make_request(bed, l);
    error = call(bed, p, l);
    if (!error)
        error = judge(bed, l, bed->report);
    if (error)
        return error;
    *margin = (struct margin){.wrong = bed->report->wrong,
                              .rounded = bed->report->worst_ratio,
                              .unrounded = bed->report->worst_ratio,
                              .telling = telling_of(bed->report),
                              .worst = bed->report->worst};
    if (!l->unrounded)
        return 0;
    l->request.got = l->unrounded;
    l->request.pitch = 0;
    l->request.unrounded = true;
    l->request.poison = memory_poison(DTYPE_F32);
    error = judge(bed, l, bed->report);
    margin->unrounded =
        fmax(bed->report->worst_ratio, bed->report->strain / (bed->loosened > 0 ? bed->loosened : 1));
    return error;
}

int bed_run(const struct bed *bed, const struct program *p, const struct config *config,
            struct margin *margin)
{
    struct layout layout = {0};
    if (config_instantiate(config, 0, &layout.instance) != 0)
        return -1;
    const int error = run(bed, p, config, &layout, margin);
    clear(bed, &layout);
    return error;
}
