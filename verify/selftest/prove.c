#include "prove_internal.h"

#include <omp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "verify/device/processors.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

const char *prove_check_name(enum prove_check check)
{
    static const char *const name[PROVE_CHECKS] = {
        [PROVE_DEFINITION] = "definition",  [PROVE_SEEN] = "seen set",
        [PROVE_INSTANCES] = "instances",    [PROVE_CLASSES] = "input classes",
        [PROVE_ENCLOSURE] = "enclosure",    [PROVE_RIGHT] = "right accepted",
        [PROVE_OFF] = "off rejected",       [PROVE_NULLS] = "nulls rejected",
        [PROVE_KERNELS] = "honest kernels", [PROVE_EXACT] = "exact sums",
        [PROVE_PINNED] = "pinned",
    };
    return name[check];
}

bool prove_break(struct proof *p, enum prove_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (p->status == PROVE_DONE) { /* only the first reason is kept */
        vsnprintf(p->report->error, sizeof p->report->error, format, arguments);
        p->status = status;
    }
    va_end(arguments);
    return false;
}

bool prove_broke(struct proof *p, const char *what, int error)
{
    if (error < 0 || p->memory->is_shortage(error))
        return prove_break(p, PROVE_ENVIRONMENT, "memory ran out: %s\n---> free some, or give less to others",
                           what);
    return prove_break(p, PROVE_ENVIRONMENT, "%s failed: %s", what, p->memory->explain(error));
}

void prove_ask(struct proof *p, enum prove_check check, int64_t count)
{
    p->report->check[check].asked += count;
}

void prove_fail(struct proof *p, enum prove_check check, const struct config *config, const char *expected,
                const char *format, ...)
{
    struct prove_finding *f = &p->report->check[check];
    va_list arguments;
    if (f->failures++)
        return;
    snprintf(f->expected, sizeof f->expected, "%s", expected);
    va_start(arguments, format);
    vsnprintf(f->found, sizeof f->found, format, arguments);
    va_end(arguments);
    if (config)
        config_format(config, f->line, sizeof f->line);
}

void prove_says(struct proof *p, enum prove_check check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->report->check[check].what, PROVE_ASKED, format, arguments);
    va_end(arguments);
}

void prove_progress(const struct proof *p, const char *part, int done, int total)
{
    if (p->options->progress)
        p->options->progress(part, done, total);
}

bool prove_interrupted(struct proof *p)
{
    return is_interrupted() && !prove_break(p, PROVE_INTERRUPTED, "interrupted");
}

void prove_threads(const struct proof *p, double flops)
{
    static const double worth_it = 2e7; /* nanoseconds of one core */
    omp_set_num_threads(flops * p->problem->host_ns > worth_it ? processors_available() : 1);
}

int prove_class_of(const struct config *config)
{
    const int axis = problem_input_axis(config->problem);
    return axis < 0 ? 0 : (int)config->value[axis];
}

bool prove_is_discrete(const struct proof *p)
{
    bool discrete = false;
    for (int j = 0; j < p->judgements; j++)
        discrete = discrete || p->judgement[j].reference->discrete;
    return discrete;
}

int prove_sizes(bool thorough)
{
    return thorough ? 30 : 8;
}

/* --- all parts --- */

enum prove_status prove_run(const struct prove_options *options, struct prove_report *report)
{
    struct proof p = {.options = options,
                      .problem = options->problem,
                      .memory = memory_of(options->device->backend),
                      .report = report,
                      .pcg = pcg_new(options->seed, "prove")};
    const double start = clock_seconds();
    *report = (struct prove_report){0};
    bool ok = p.pcg || prove_broke(&p, "drawing", -1);
    ok = ok && prove_contract(&p) && prove_draw(&p) && prove_instances(&p);
    if (ok && report->check[PROVE_DEFINITION].failures == 0) /* without judgements nothing else makes sense */
        ok = prove_outputs(&p) && prove_pinned(&p);
    if (ok && report->check[PROVE_DEFINITION].failures + report->check[PROVE_ENCLOSURE].failures == 0)
        ok = prove_kernels(&p); /* a verdict on kernels needs a reliable judge */
    ok = ok && prove_tell(&p);
    omp_set_num_threads(processors_available());
    report->configs = p.case_count;
    report->seconds = clock_seconds() - start;
    config_list_clear(&p.seen);
    config_list_clear(&p.host_seen);
    space_clear(&p.space);
    pcg_free(p.pcg);
    free(p.cases);
    build_clear(&p.baseline);
    return p.status;
}

bool prove_passes(const struct prove_report *report)
{
    for (int c = 0; c < PROVE_CHECKS; c++)
        if (report->check[c].failures)
            return false;
    return true;
}

void prove_clear(struct prove_report *report)
{
    free(report->class);
    free(report->telling);
    free(report->seen);
    free(report->kernel);
    free(report->pins);
    *report = (struct prove_report){0};
}
