/* One configuration laid out, computed by a program with switches, and judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/runner/invoke.h"
#include "verify/selftest/layout.h"
#include "margins.h"

/* The state of a run beside the tensors. */
struct run {
    struct layout layout;
    struct judge_request request;
    void *unrounded;  /* doubles; NULL: the program has no such output */
    int64_t elements; /* for the judged output */
};

static void make_request(const struct bed *bed, struct run *r)
{
    layout_request(&r->layout, bed->output, bed->capability, &r->request);
    r->request.loosened = bed->loosened;
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        r->request.sample[s] = r->elements * (2 * s + 1) / (2 * JUDGE_SAMPLES);
}

static int call(const struct bed *bed, const struct program *p, const struct run *r)
{
    const struct layout *l = &r->layout;
    struct invocation invocation;
    invoke_begin(&invocation, p->call);
    for (int t = 0; bed->problem->tensors[t].name; t++)
        invoke_pointer(&invocation, l->got[t] ? l->got[t] : l->held[t]);
    for (int i = 0; bed->problem->arguments[i].name; i++) {
        const struct channel_argument argument = argument_of(bed->problem, &l->instance, i);
        invoke_argument(&invocation, &argument);
    }
    invoke_pointer(&invocation, NULL);
    *p->unrounded = r->unrounded;
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

static int judge(const struct bed *bed, const struct run *r, struct judge_report *report)
{
    return layout_judge(&r->layout, bed->reference, &r->request, report);
}

/* Memory for the program's output before its last rounding, where it has one. */
static int take_unrounded(const struct bed *bed, struct run *r)
{
    const size_t bytes = (size_t)r->elements * sizeof(double);
    if (bed->reference->discrete || bed->output != problem_first_output(bed->problem))
        return 0;
    const int error = bed->memory->take(&r->unrounded, bytes);
    return error ? error : bed->memory->poison(r->unrounded, bytes, dtype_row(DTYPE_F32)->poison);
}

static int run(const struct bed *bed, const struct program *p, struct run *r, struct margin *margin)
{
    int error = take_unrounded(bed, r);
    if (error)
        return error;
    make_request(bed, r);
    error = call(bed, p, r);
    if (!error)
        error = judge(bed, r, bed->report);
    if (error)
        return error;
    *margin = (struct margin){.wrong = bed->report->wrong,
                              .rounded = bed->report->worst_ratio,
                              .unrounded = bed->report->worst_ratio,
                              .telling = telling_of(bed->report),
                              .worst = bed->report->worst};
    if (!r->unrounded)
        return 0;
    r->request.got = r->unrounded;
    r->request.pitch = 0;
    r->request.unrounded = true;
    r->request.poison = dtype_row(DTYPE_F32)->poison;
    error = judge(bed, r, bed->report);
    margin->unrounded =
        fmax(bed->report->worst_ratio, bed->report->strain / (bed->loosened > 0 ? bed->loosened : 1));
    return error;
}

int bed_run(const struct bed *bed, const struct program *p, const struct config *config,
            struct margin *margin)
{
    struct run r = {.unrounded = NULL};
    int error = layout_open(&r.layout, bed->memory, config, 0);
    if (!error) {
        r.elements = instance_tensor_count(&r.layout.instance.tensor[bed->output]);
        error = run(bed, p, &r, margin);
    }
    if (r.unrounded)
        bed->memory->release(r.unrounded);
    layout_close(&r.layout);
    return error;
}
