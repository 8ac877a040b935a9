#include "worker.h"

#include <math.h>
#include <stdio.h>

#include "control.h"
#include "evidence.h"
#include "verify/util/clock.h"

void past_add(struct worker *w, const struct config *config)
{
    w->past.item[w->past.count++ % PAST_CONFIGS] = *config;
}

/* Did the candidate report a lack of memory? A module by an exception of that kind
 * (unseen_torch/oom.py), a kernel by the runtime's code. */
static bool wants_memory(const struct worker *w, const struct child_answer *answer)
{
    return (w->options->python || w->options->device->backend == BACKEND_CUDA) &&
           answer->returned == RETURNED_SHORT;
}

void worker_refused(struct worker *w, const struct child_answer *answer, struct call_result *result)
{
    w->shortage.wanted = wants_memory(w, answer);
    w->shortage.least_free = fmin(w->shortage.free_bytes, (double)w->buffers->memory->available());
    result->outcome = OUTCOME_REFUSED;
    result->reason.cause = CAUSE_RETURN;
    if (*answer->words)
        snprintf(result->detail, sizeof result->detail, "%.300s", answer->words);
    else
        snprintf(result->detail, sizeof result->detail, "returned %d", answer->returned);
}

/* --- the child process --- */

static const struct {
    enum child_status status;
    enum outcome outcome;
    enum cause cause;
} outcome_of[] = {
    {CHILD_OVERRUN, OUTCOME_OVERRUN, CAUSE_GUARD}, {CHILD_CRASH, OUTCOME_CRASH, CAUSE_END},
    {CHILD_TIMEOUT, OUTCOME_TIMEOUT, CAUSE_TIME},  {CHILD_GARBAGE, OUTCOME_CRASH, CAUSE_CHANNEL},
    {CHILD_MEMORY, OUTCOME_SKIPPED, CAUSE_MEMORY}, {CHILD_EXCEEDED, OUTCOME_EXCEEDED, CAUSE_LIMIT},
    {CHILD_SHORT, OUTCOME_SKIPPED, CAUSE_MEMORY},  {CHILD_OVER, OUTCOME_SKIPPED, CAUSE_BUDGET},
    {CHILD_KILLED, OUTCOME_CRASH, CAUSE_KILLED},   {CHILD_RAISED, OUTCOME_CRASH, CAUSE_END},
};

/* Records whose guard was hit, and on which side. */
static void explain_fault(const struct child_fault *fault, struct reason *reason)
{
    reason->tensor = fault->slot;
    reason->side = fault->slot < 0 ? SIDE_NONE : fault->below ? SIDE_BELOW : SIDE_ABOVE;
}

void worker_restart(struct worker *w)
{
    const double start = clock_seconds();
    child_stop(w->child);
    w->evidence->seconds.stop += clock_seconds() - start;
    w->child = NULL;
    w->exception.before = false;
    for (int i = 0; i < BUFFERS_SETUPS; i++)
        w->buffers->setup[i].mapped = false;
}

void worker_failed(struct worker *w, enum child_status status, const char *text, struct call_result *result)
{
    const struct child_fault fault = w->child ? child_fault(w->child) : (struct child_fault){.slot = -1};
    if (status == CHILD_RAISED && w->exception.may_live)
        w->exception.before = w->exception.now = true;
    else
        worker_restart(w);
    w->losses += status == CHILD_OVERRUN || status == CHILD_CRASH || status == CHILD_EXCEEDED;
    snprintf(result->detail, sizeof result->detail, "%s", text);
    for (size_t i = 0; i < sizeof outcome_of / sizeof *outcome_of; i++)
        if (outcome_of[i].status == status) {
            result->outcome = outcome_of[i].outcome;
            result->reason.cause = outcome_of[i].cause;
            if (status == CHILD_OVERRUN)
                explain_fault(&fault, &result->reason);
            if (status == CHILD_GARBAGE)
                evidence_find(w->evidence, FINDING_CHANNEL,
                              "the candidate's process wrote on the channel "
                              "that only the runner answers on: %s",
                              text);
            return;
        }
    status_break(w->status, child_status_owner(status) == OWNER_CANDIDATE ? SESSION_BAD : SESSION_BROKEN,
                 "%s", text);
}

/* Time limit for loading. A short --timeout is meant for the kernel, while the loader must read files; so the
 * limit is larger, up to a factor. */
static double load_limit(double timeout)
{
    static const double times = 5, enough = 10;
    return fmax(timeout, fmin(times * timeout, enough));
}

struct child_options worker_child_options(const struct worker *w)
{
    return (struct child_options){
        .backend = w->options->device->backend,
        .device = w->options->device->ordinal,
        .object = w->options->object,
        .symbol = w->options->problem->name,
        .python = w->options->python,
        .own = w->guarded.at_hand,
        .load_timeout =
            w->options->python ? w->options->python->compile_timeout : load_limit(w->options->timeout),
        .memory = w->options->memory,
        .threads = w->options->threads,
        .log_path = w->options->log_path,
    };
}

/* A candidate that dies while it is loaded is at fault as in a call, even if it loaded before. */
static bool start_child(struct worker *w, struct call_result *result)
{
    char text[RESULT_DETAIL_SIZE];
    const struct child_options options = worker_child_options(w);
    const double start = clock_seconds();
    const enum child_status status = w->guarded.at_hand ? child_start(&w->child, &options, text, sizeof text)
                                                        : process_pool_take(w, text, sizeof text);
    w->evidence->seconds.start += clock_seconds() - start;
    w->past.count = 0;
    if (status == CHILD_OK)
        return true;
    worker_failed(w, status == CHILD_SHORT && memory_is_plenty(w) ? CHILD_LOAD : status, text, result);
    result->reason.stage = STAGE_LOADING;
    if (outcome_fails(result->outcome))
        snprintf(result->detail, sizeof result->detail, "while it was being loaded: %.260s", text);
    return false;
}

/* Handles a process that cannot map the judge's tensors. If a process without the candidate can, the
 * candidate has damaged its own process. A lack of memory on a GPU is blamed on the machine, since other
 * processes may have used it meanwhile. */
static void map_failed(struct worker *w, enum child_status status, const char *text,
                       struct call_result *result)
{
    const bool asks =
        status == CHILD_DEVICE || (status == CHILD_MEMORY && w->options->device->backend == BACKEND_HOST);
    char words[RESULT_DETAIL_SIZE];
    if (asks)
        worker_restart(w); /* its memory may be what the control process needs */
    if (!asks || !control_maps(w, w->buffers->now)) {
        worker_failed(w, status, text, result);
        return;
    }
    snprintf(words, sizeof words, "its process takes no tensors any more: %.200s", text);
    worker_failed(w, CHILD_CRASH, words, result);
}

bool worker_map(struct worker *w, struct call_result *result)
{
    struct setup *setup = w->buffers->now;
    char text[RESULT_DETAIL_SIZE];
    enum child_status status = CHILD_OK;
    if (!w->child && !start_child(w, result))
        return false;
    if (setup->mapped)
        return true;
    const double start = clock_seconds();
    for (int ring = 0; ring < setup->rings && status == CHILD_OK; ring++)
        for (int t = 0; t < w->buffers->tensors && status == CHILD_OK; t++)
            status = child_map_tensor(w->child, setup->first_set + ring, t, &setup->slot[t].region[ring],
                                      &setup->slot[t].tensor, text, sizeof text);
    w->evidence->seconds.map += clock_seconds() - start;
    if (status != CHILD_OK) {
        map_failed(w, status, text, result);
        return false;
    }
    setup->mapped = true;
    setup->called = false;
    return true;
}

/* Time limit of a call. A module may compile for each shape in its first call. The call looks the same to the
 * candidate. */
double worker_call_limit(struct worker *w)
{
    const bool first = !w->buffers->now->called;
    w->buffers->now->called = true;
    return w->options->python && first ? fmax(w->options->timeout, w->options->python->compile_timeout)
                                       : w->options->timeout;
}

static void unmap_child(struct worker *w, enum child_status (*unmap)(struct child *, int, char *, size_t))
{
    char text[RESULT_DETAIL_SIZE];
    for (int ring = 0; ring < w->buffers->now->rings && w->buffers->now->mapped && w->child; ring++)
        if (unmap(w->child, w->buffers->now->first_set + ring, text, sizeof text) != CHILD_OK)
            worker_restart(w);
}

void worker_unmap(struct worker *w)
{
    unmap_child(w, child_unmap);
}

void worker_unmap_all(struct worker *w)
{
    unmap_child(w, w->keeps_model ? child_unmap_and_keep : child_unmap);
    w->keeps_model = false;
    guarded_unmap(w);
}

void worker_close(struct worker *w)
{
    const double start = clock_seconds();
    child_stop(w->child);
    child_stop(w->guarded.child);
    w->child = w->guarded.child = NULL;
    process_pool_drop(w);
    w->evidence->seconds.stop += clock_seconds() - start;
}
