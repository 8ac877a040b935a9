/* One configuration laid out, computed by a program with switches, and judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/device/memory.h"
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
        const int64_t count = instance_tensor_count(&l->instance.tensor[t]);
        const bool output = tensor[t].role == TENSOR_OUTPUT;
        l->bytes[t] = (size_t)count * dtype_size(tensor[t].dtype);
        error = bed->memory->take(&l->tensor[t], l->bytes[t] + 16);
        if (!error)
            error = output ? bed->memory->poison(l->tensor[t], l->bytes[t], memory_poison(tensor[t].dtype))
                           : bed->memory->fill(bed->problem, &l->instance, t, config->seed, 0, l->tensor[t]);
        l->request.context.tensor[t] = l->tensor[t];
    }
    l->elements = instance_tensor_count(&l->instance.tensor[bed->output]);
    return error;
}

static void make_request(const struct bed *bed, struct layout *l)
{
    struct judge_request *r = &l->request;
    const enum dtype dtype = bed->problem->tensors[bed->output].dtype;
    r->output = bed->output;
    r->got = l->tensor[bed->output];
    r->problem = bed->problem;
    memcpy(r->context.extent, l->instance.extent, sizeof r->context.extent);
    r->context.data = l->instance.data;
    r->context.e4m3 = reference_e4m3();
    r->loosened = bed->loosened;
    r->poison = dtype == DTYPE_BF16 ? memory_poison(dtype) & 0xffff : memory_poison(dtype);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        r->sample[s] = l->elements * (2 * s + 1) / (2 * JUDGE_SAMPLES);
    error_arithmetics(bed->problem, bed->capability, &r->arithmetics);
}

static int call(const struct bed *bed, const struct program *p, const struct layout *l)
{
    uint64_t a[HONEST_ARGUMENTS] = {0};
    int n = 0;
    for (int t = 0; bed->problem->tensors[t].name; t++)
        a[n++] = (uint64_t)(uintptr_t)l->tensor[t];
    for (int e = 0; bed->problem->arguments[e].name; e++)
        a[n++] = (uint64_t)l->instance.extent[e];
    *p->unrounded = l->unrounded;
    return p->call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                   a[14], a[15], a[16])
               ? -2
               : 0;
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
