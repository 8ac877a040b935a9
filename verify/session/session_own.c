/* One more call of a configuration that has passed, for a module on a GPU. It runs in another process, where
 * the candidate's own allocations lie between guards and contain poison (runner_own.c). Code that writes next
 * to a temporary, or reads unwritten memory, is right only by luck elsewhere.
 *
 * Only unambiguous failures count: a fault, or a wrong result. If the process ends in another way, the check
 * is disabled with a note, since not all libraries and graphs work with another allocator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_internal.h"

/* It costs a process and a call per configuration. */
static bool is_wanted(void)
{
    const char *const value = getenv("UNSEEN_GUARD_OWN");
    return !value || strcmp(value, "0") != 0;
}

bool own_applies(const struct session *s)
{
    return is_wanted() && s->options.python && s->options.device->backend == BACKEND_CUDA && !s->own.off &&
           defence_is_on(DEFENCE_GUARDS);
}

/* Makes the other process current. */
static void turn(struct session *s)
{
    struct child *const child = s->child;
    s->child = s->own.child;
    s->own.child = child;
    for (int i = 0; i < SESSION_POOL; i++) {
        const bool mapped = s->setup[i].mapped, called = s->setup[i].called;
        s->setup[i].mapped = s->setup[i].own_mapped;
        s->setup[i].called = s->setup[i].own_called;
        s->setup[i].own_mapped = mapped;
        s->setup[i].own_called = called;
    }
    const bool raised = s->raised.before;
    s->raised.before = s->own.raised;
    s->own.raised = raised;
    s->own.at_hand = !s->own.at_hand;
}

/* Disables the check for the rest of the session. */
static void give_up(struct session *s, const char *words)
{
    s->own.off = true;
    snprintf(s->own.words, sizeof s->own.words, "%.*s", (int)strcspn(words, "\n"), words);
    session_restart(s);
}

/* result->outcome is PASS if nothing was found; *judged: there is an output to judge. False: s->status says
 * why. */
static bool call_own(struct session *s, const struct call *call, struct call_result *result, bool *judged)
{
    struct child_answer answer;
    struct call_result ended = {.reason.tensor = -1};
    char text[RESULT_DETAIL_SIZE];
    const enum session_status before = s->status;
    *judged = false;
    if (!session_child(s, &ended)) {
        /* the other process could be started and this one not: that says nothing about the candidate */
        s->status = before;
        give_up(s, ended.detail[0] ? ended.detail : s->error);
        return true;
    }
    const enum child_status status =
        child_call(s->child, call, session_call_limit(s), &answer, text, sizeof text);
    if (status == CHILD_OVERRUN) {
        session_child_failed(s, status, text, result);
        snprintf(result->detail, sizeof result->detail, "with its own allocations between guards: %.250s",
                 text);
        return true;
    }
    if (status == CHILD_OK && answer.returned == RETURNED_SHORT) {
        session_restart(s); /* the next configuration may be smaller */
        return true;
    }
    if (status != CHILD_OK || answer.returned != 0) {
        give_up(s, status != CHILD_OK ? text : answer.words);
        return true;
    }
    *judged = true;
    return slots_snapshot(s, call) && slots_inspect(s, call, result);
}

bool own_call(struct session *s, const struct call *call, struct call_result *result, bool *judged)
{
    const double start = clock_seconds(), started = s->seconds.start;
    turn(s);
    const bool ok = call_own(s, call, result, judged);
    turn(s);
    s->seconds.run += clock_seconds() - start - (s->seconds.start - started);
    return ok;
}

void own_unmap(struct session *s)
{
    if (!s->own.child)
        return;
    turn(s);
    session_unmap_child(s);
    turn(s);
}

void own_end(struct session *s)
{
    turn(s);
    session_restart(s);
    turn(s);
}

const char *session_unguarded(const struct session *s)
{
    return s->own.off ? s->own.words : NULL;
}
