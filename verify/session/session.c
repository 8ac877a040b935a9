#include "session_internal.h"
#include "session_timing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "verify/torch/task.h"

struct judge_options session_judge_options(const struct session_options *options)
{
    return (struct judge_options){.problem = options->problem,
                                  .device = options->device,
                                  .tolerance = options->tolerance,
                                  .interpreter = options->interpreter,
                                  .threads = options->threads,
                                  .memory = options->memory,
                                  .oracles = options->oracles,
                                  .shared = options->shared};
}

void session_prepare(const struct session_options *options, int count)
{
    const struct judge_options judge = session_judge_options(options);
    judge_prepare(&judge, count);
}

struct session *session_open(const struct session_options *options)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->buffers = (struct buffers){.problem = options->problem,
                                  .device = options->device,
                                  .state = options->python ? options->python->state : NULL,
                                  .workers = options->workers,
                                  .small_on_host = true,
                                  .status = &s->status};
    buffers_open(&s->buffers);
    s->worker = (struct worker){
        .options = &s->options, .buffers = &s->buffers, .evidence = &s->evidence, .status = &s->status};
    s->evidence.family = options->shared ? options->shared->family : 0;
    s->status.memory = s->buffers.memory;
    s->status.imported = options->problem->task != NULL;
    const struct judge_options judge = session_judge_options(options);
    judge_open(&s->judge, &judge, &s->evidence.seconds, &s->status);
    return s;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    worker_close(&s->worker);
    judge_close(&s->judge);
    buffers_close(&s->buffers);
    free(s);
}

void session_end(struct session *s, struct phase_seconds *add_to)
{
    session_rest(s);
    session_seconds(s, add_to);
    const double start = clock_seconds();
    session_close(s);
    add_to->map += clock_seconds() - start;
}

void session_rest(struct session *s)
{
    worker_close(&s->worker);
}

void session_limit(struct session *s, double seconds)
{
    s->options.timeout = seconds;
}

void session_observe(struct session *s, struct pattern *pattern)
{
    s->evidence.pattern = pattern;
}

struct judging session_judging(const struct session *s, const struct config *config,
                               const struct instance *instance, int call)
{
    struct judging judging = {
        .config = config, .instance = instance, .call = call, .pattern = s->evidence.pattern};
    buffers_judged(&s->buffers, judging.tensor);
    judging.on_host = s->buffers.now->on_host;
    return judging;
}

void session_copy(struct session *s, void *const *to)
{
    s->buffers.copies = to;
}

int session_losses(const struct session *s)
{
    return s->worker.losses;
}

const char *session_error(const struct session *s)
{
    return s->status.error;
}

const struct finding *session_findings(const struct session *s, int *count)
{
    *count = s->evidence.findings;
    return s->evidence.finding;
}

void session_seconds(const struct session *s, struct phase_seconds *add_to)
{
    evidence_add_seconds(&s->evidence, add_to);
}

void session_company(const struct session *s, struct company *add_to)
{
    evidence_add_company(&s->evidence, add_to);
}

void session_skip(struct config_result *result, enum cause cause)
{
    result->outcome = OUTCOME_SKIPPED;
    result->reason = (struct reason){.cause = cause, .stage = STAGE_NOT_RUN};
}

const struct session_options *session_given(const struct session *s)
{
    return &s->options;
}

void session_settle(struct session *s, struct config_result *result)
{
    if (status_end(&s->status) != SESSION_SHORT)
        return;
    session_skip(result, CAUSE_MEMORY);
    snprintf(result->detail, sizeof result->detail, "%.300s", s->status.error);
}

void session_twins(struct session *s, bool on)
{
    s->worker.past.siblings_off = !on;
}

void session_unmap(struct session *s)
{
    struct phase_seconds *const seconds = &s->evidence.seconds;
    const double start = clock_seconds(), stopped = seconds->stop;
    worker_unmap_all(&s->worker);
    buffers_destroy(&s->buffers);
    seconds->map += clock_seconds() - start - (seconds->stop - stopped);
}

void session_start_ahead(struct session *s, int count)
{
    struct worker *const worker = &s->worker;
    if (!s->worker.pool.large)
        process_pool_start(&worker, 1, count, NULL);
}

const char *session_unguarded(const struct session *s)
{
    return s->worker.guarded.off ? s->worker.guarded.words : NULL;
}
