/* One more call of a configuration that has passed, for a module on a GPU. It runs in another process, where
 * the candidate's own allocations lie between guards and contain poison (runner_guarded.c). Code that writes
 * next to a temporary, or reads unwritten memory, is right only by luck elsewhere.
 *
 * Only unambiguous failures count: a fault, or a wrong result. If the process ends in another way, the check
 * is disabled with a note, since not all libraries and graphs work with another allocator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"
#include "worker.h"

/* It costs a process and a call per configuration. */
static bool is_wanted(void)
{
    const char *const value = getenv("UNSEEN_GUARD_OWN");
    return !value || strcmp(value, "0") != 0;
}

bool guarded_applies(const struct worker *w)
{
    return is_wanted() && w->options->python && w->options->device->backend == BACKEND_CUDA &&
           !w->guarded.off && defence_is_on(DEFENCE_GUARDS);
}

/* Makes the other process current. */
static void turn(struct worker *w)
{
    struct child *const child = w->child;
    w->child = w->guarded.child;
    w->guarded.child = child;
    for (int i = 0; i < BUFFERS_SETUPS; i++) {
        const bool mapped = w->buffers->setup[i].mapped, called = w->buffers->setup[i].called;
        w->buffers->setup[i].mapped = w->buffers->setup[i].guarded_mapped;
        w->buffers->setup[i].called = w->buffers->setup[i].guarded_called;
        w->buffers->setup[i].guarded_mapped = mapped;
        w->buffers->setup[i].guarded_called = called;
    }
    const bool raised = w->exception.before;
    w->exception.before = w->guarded.raised;
    w->guarded.raised = raised;
    w->guarded.at_hand = !w->guarded.at_hand;
}

/* Disables the check for the rest of the session. */
static void give_up(struct worker *w, const char *words)
{
    w->guarded.off = true;
    snprintf(w->guarded.words, sizeof w->guarded.words, "%.*s", (int)strcspn(words, "\n"), words);
    worker_restart(w);
}

/* result->outcome is PASS if nothing was found; *judged: there is an output to judge. False: w->status->code
 * says why. */
static bool call_own(struct worker *w, const struct call *call, struct call_result *result, bool *judged)
{
    struct child_answer answer;
    struct call_result ended = {.reason.tensor = -1};
    char text[RESULT_DETAIL_SIZE];
    const enum session_status before = w->status->code;
    *judged = false;
    if (!worker_map(w, &ended)) {
        /* the other process could be started and this one not: that says nothing about the candidate */
        w->status->code = before;
        give_up(w, ended.detail[0] ? ended.detail : w->status->error);
        return true;
    }
    const enum child_status status =
        child_call(w->child, call, worker_call_limit(w), &answer, text, sizeof text);
    if (status == CHILD_OVERRUN) {
        worker_failed(w, status, text, result);
        snprintf(result->detail, sizeof result->detail, "with its own allocations between guards: %.250s",
                 text);
        return true;
    }
    if (status == CHILD_OK && answer.returned == RETURNED_SHORT) {
        worker_restart(w); /* the next configuration may be smaller */
        return true;
    }
    if (status != CHILD_OK || answer.returned != 0) {
        give_up(w, status != CHILD_OK ? text : answer.words);
        return true;
    }
    *judged = true;
    return buffers_snapshot(w->buffers, call) && buffers_inspect(w->buffers, call, result);
}

bool guarded_call(struct worker *w, const struct call *call, struct call_result *result, bool *judged)
{
    const double start = clock_seconds(), started = w->evidence->seconds.start;
    turn(w);
    const bool ok = call_own(w, call, result, judged);
    turn(w);
    w->evidence->seconds.run += clock_seconds() - start - (w->evidence->seconds.start - started);
    return ok;
}

void guarded_unmap(struct worker *w)
{
    if (!w->guarded.child)
        return;
    turn(w);
    worker_unmap(w);
    turn(w);
}

void guarded_end(struct worker *w)
{
    turn(w);
    worker_restart(w);
    turn(w);
}
