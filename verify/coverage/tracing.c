#include "tracing.h"

#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/session/run.h"

enum { LOAD_SECONDS = 10, CALL_LIMIT_SECONDS = 3, SLOTS_PER_POINT = 4 };

bool tracing_open(struct tracing *t, const struct task *task, const struct build *build, int points,
                  double memory)
{
    const struct run_options run = {.jobs = 1, .memory = memory};
    const struct session_options session = run_session_options(task, &run);
    *t = (struct tracing){.build = build,
                          .options = {.backend = BACKEND_HOST,
                                      .object = build->object,
                                      .symbol = task->problem->name,
                                      .load_timeout = LOAD_SECONDS,
                                      .memory = session.memory,
                                      .threads = session.threads},
                          .slots = COVERAGE_FEWEST,
                          .timeout = CALL_LIMIT_SECONDS};
    while (t->slots < (uint32_t)points * SLOTS_PER_POINT)
        t->slots *= 2;
    t->buffers = (struct buffers){
        .problem = task->problem, .device = &task->device, .workers = 1, .status = &t->status};
    buffers_open(&t->buffers);
    t->status.memory = t->buffers.memory;
    t->status.imported = task->problem->task != NULL;
    return region_create(&t->map, BACKEND_HOST, t->slots * sizeof(struct coverage_point), 16, t->why,
                         sizeof t->why) == 0;
}

void tracing_close(struct tracing *t)
{
    child_stop(t->child);
    region_destroy(&t->map);
    buffers_close(&t->buffers);
}

static void stop(struct tracing *t)
{
    child_stop(t->child);
    t->child = NULL;
}

static bool is_candidates(enum child_status status)
{
    return status == CHILD_OVERRUN || status == CHILD_CRASH || status == CHILD_KILLED ||
           status == CHILD_EXCEEDED || status == CHILD_GARBAGE;
}

/* A candidate that cannot be loaded is not started again. */
static bool start(struct tracing *t)
{
    char text[200];
    enum child_status status = child_start(&t->child, &t->options, text, sizeof text);
    if (status == CHILD_OK)
        status = child_map_coverage(t->child, &t->map, text, sizeof text);
    if (status == CHILD_OK)
        return true;
    stop(t);
    snprintf(t->why, sizeof t->why, "its instrumented build does not start: %.180s", text);
    return false;
}

static enum trace_status call(struct tracing *t, struct call *call)
{
    char text[200];
    struct child_answer answer;
    struct setup *const setup = t->buffers.now;
    enum child_status status = CHILD_OK;
    for (int i = 0; i < t->buffers.tensors && status == CHILD_OK; i++)
        status = child_map_tensor(t->child, setup->first_set, i, &setup->slot[i].region[0],
                                  &setup->slot[i].tensor, text, sizeof text);
    memset(t->map.base, 0, t->map.bytes);
    if (status == CHILD_OK)
        status = child_call(t->child, call, t->timeout, &answer, text, sizeof text);
    if (status == CHILD_OK)
        status = child_unmap(t->child, setup->first_set, text, sizeof text);
    if (status == CHILD_OK)
        return TRACE_OK;
    stop(t);
    snprintf(t->why, sizeof t->why, "%.200s", text);
    return status == CHILD_TIMEOUT ? TRACE_HUNG : is_candidates(status) ? TRACE_ENDED : TRACE_BROKEN;
}

enum trace_status tracing_call(struct tracing *t, const struct config *config)
{
    struct instance instance;
    struct call request = {.mode = CALL_EVENTS};
    enum trace_status status = TRACE_BROKEN;
    snprintf(t->why, sizeof t->why, "memory is out");
    if (config_instantiate(config, 0, &instance) != 0)
        return TRACE_BROKEN;
    if (buffers_create(&t->buffers, &instance, 1, false, t->why, sizeof t->why) == 0 &&
        buffers_fill(&t->buffers, config, &instance, 0) &&
        buffers_place(&t->buffers, 0, PLACE_LOW, NULL, &request)) {
        call_arguments(t->buffers.problem, &instance, &request);
        if (t->child || start(t))
            status = call(t, &request);
    } else if (t->status.code != SESSION_OK) {
        snprintf(t->why, sizeof t->why, "%.200s", t->status.error);
    }
    buffers_destroy(&t->buffers);
    instance_clear(&instance);
    return status;
}

bool tracing_point(const struct tracing *t, uint32_t place, struct coverage_point *point)
{
    const struct coverage_point *const points = t->map.base;
    for (uint32_t i = 0; i < COVERAGE_PROBES; i++) {
        *point = points[coverage_slot(place, i, t->slots)];
        if (point->place == place)
            return true;
        if (point->place == 0)
            return false;
    }
    return false;
}

double tracing_hits(const struct tracing *t)
{
    const struct coverage_point *const points = t->map.base;
    double hits = 0;
    for (uint32_t i = 0; i < t->slots; i++)
        hits += (double)points[i].hits;
    return hits;
}
