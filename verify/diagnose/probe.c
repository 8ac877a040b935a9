#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/cost.h"
#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

/* A hash table of results by configuration: open addressing, at most half full. An empty slot has no
 * problem. */
struct probe {
    const struct task *task;
    struct session *session;
    struct costing costing;
    struct config_result *slot;
    size_t capacity, used; /* capacity is a power of two */
    int runs;
    const char *error;
};

enum { FIRST_CAPACITY = 256 };

struct probe *probe_open(const struct task *task, const struct run_options *options)
{
    struct session_options session = run_session_options(task, options);
    session.brief = true; /* most of hundreds of runs fail, and only the last is shown */
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return NULL;
    *probe = (struct probe){.task = task,
                            .session = session_open(&session),
                            .costing = costing_of(&task->space, &task->caps),
                            .slot = calloc(FIRST_CAPACITY, sizeof *probe->slot),
                            .capacity = FIRST_CAPACITY,
                            .error = "out of memory"};
    if (probe->session && probe->slot)
        return probe;
    probe_close(probe);
    return NULL;
}

void probe_close(struct probe *probe)
{
    if (!probe)
        return;
    session_close(probe->session);
    free(probe->slot);
    free(probe);
}

int probe_runs(const struct probe *probe)
{
    return probe->runs;
}

const char *probe_error(const struct probe *probe)
{
    return probe->error;
}

void probe_twins(struct probe *probe, bool on)
{
    session_twins(probe->session, on);
}

void probe_limit(struct probe *probe, double seconds)
{
    session_limit(probe->session, seconds);
}

const struct session *probe_session(const struct probe *probe)
{
    return probe->session;
}

/* --- memory --- */

static bool is_empty(const struct config_result *slot)
{
    return slot->config.problem == NULL;
}

static struct config_result *find_slot(struct config_result *slot, size_t capacity,
                                       const struct config *config)
{
    uint64_t hash = 0xcbf29ce484222325u ^ config->seed; /* FNV-1a over whole values, and a last mix */
    for (int i = 0; config->problem->axes[i].name; i++)
        hash = (hash ^ (uint64_t)config->value[i]) * 0x100000001b3u;
    size_t at = (size_t)(hash ^ hash >> 32) & (capacity - 1);
    while (!is_empty(&slot[at]) && !config_equal(&slot[at].config, config))
        at = (at + 1) & (capacity - 1);
    return &slot[at];
}

static bool grow(struct probe *probe)
{
    const size_t capacity = 2 * probe->capacity;
    struct config_result *slot = calloc(capacity, sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < probe->capacity; i++)
        if (!is_empty(&probe->slot[i]))
            *find_slot(slot, capacity, &probe->slot[i].config) = probe->slot[i];
    free(probe->slot);
    probe->slot = slot;
    probe->capacity = capacity;
    return true;
}

static bool remember(struct probe *probe, const struct config_result *result)
{
    struct config_result *slot = find_slot(probe->slot, probe->capacity, &result->config);
    if (!is_empty(slot)) {
        if (result->outcome != OUTCOME_PASS)
            *slot = *result;
        return true;
    }
    *slot = *result;
    return 2 * ++probe->used <= probe->capacity || grow(probe);
}

bool probe_know(struct probe *probe, const struct config_result *result)
{
    return remember(probe, result);
}

void probe_observe(struct probe *probe, struct pattern *pattern)
{
    session_observe(probe->session, pattern);
}

/* --- runs --- */

static void start_result(const struct config *config, struct config_result *result)
{
    memset(result, 0, sizeof *result);
    result->unseen = true;
    result->config = *config;
    config_format(config, result->line, sizeof result->line);
}

/* Runs a configuration: on the blend `mix`, right after `after`, or by itself if both are NULL. */
static enum probe_status run_now(struct probe *probe, const struct config *config, const struct mix *mix,
                                 const struct config *after, struct config_result *result)
{
    start_result(config, result);
    if (is_interrupted() || budget_is_over())
        return PROBE_INTERRUPTED;
    run_team(1);
    const enum session_status status = mix     ? session_check_mix(probe->session, mix, result)
                                       : after ? session_check_after(probe->session, config, after, result)
                                               : session_check(probe->session, config, result);
    probe->runs++;
    /* an interrupt kills the child, which must not count as a crash */
    if (is_interrupted() || budget_is_over())
        return PROBE_INTERRUPTED;
    if (status == SESSION_OK)
        return PROBE_OK;
    probe->error = session_error(probe->session);
    return status == SESSION_BAD ? PROBE_BAD : PROBE_BROKEN;
}

enum probe_status probe_again(struct probe *probe, const struct config *config, struct config_result *result)
{
    const enum probe_status status = run_now(probe, config, NULL, NULL, result);
    return status != PROBE_OK || remember(probe, result) ? status : PROBE_BROKEN;
}

enum probe_status probe_mix(struct probe *probe, const struct mix *mix, struct config_result *result)
{
    return run_now(probe, &mix->of->own_config, mix, NULL, result);
}

enum probe_status probe_after(struct probe *probe, const struct config *config, const struct config *after,
                              struct config_result *result)
{
    return run_now(probe, config, NULL, after, result);
}

const struct config_result *probe_next(const struct probe *probe, const struct config_result *after)
{
    for (size_t at = after ? (size_t)(after - probe->slot) + 1 : 0; at < probe->capacity; at++)
        if (!is_empty(&probe->slot[at]))
            return &probe->slot[at];
    return NULL;
}

enum probe_status probe_run(struct probe *probe, const struct config *config, struct config_result *result)
{
    struct cost cost;
    start_result(config, result);
    const struct config_result *known = find_slot(probe->slot, probe->capacity, config);
    if (!is_empty(known)) {
        *result = *known;
        return PROBE_OK;
    }
    if (draw_cost(&probe->costing, config, &cost))
        return probe_again(probe, config, result);
    session_skip(result, CAUSE_CAPS);
    snprintf(result->detail, sizeof result->detail,
             "not run: above the %.3g MB or %.3g GFLOP that this "
             "machine allows one configuration",
             probe->task->caps.bytes / 1e6, probe->task->caps.flops / 1e9);
    return PROBE_OK;
}
