#include <stdio.h>
#include <string.h>

#include "verify/system/budget.h"
#include "verify/system/interrupt.h"
#include "run_internal.h"

/* The baseline's times say nothing about loading. */
static struct alone_limit limit_of(const struct run *run, int i, bool loading)
{
    struct alone_limit limit = {.seconds = run->options->timeout};
    if (!loading)
        return alone_limit(run->alone, &run_drawn(run->task, i)->config);
    snprintf(limit.why, sizeof limit.why, "the limit of loading %s",
             build_python(&run->task->build) ? "is --compile-timeout" : "follows --timeout");
    return limit;
}

static enum session_status attempt_alone(struct run *run, struct session *session, int i,
                                         const struct run_attempt *attempt, const struct alone_limit *limit)
{
    struct config_result *result = &run->result->results[i];
    const struct config *config = &run_drawn(run->task, i)->config;
    struct lease *lease = run->task->lease;
    enum session_status status = SESSION_OK;
    session_limit(session, limit->seconds);
    if (attempt->timed) { /* session_time takes the lease itself */
        status = session_time(session, config, attempt->time_budget, result);
    } else if (lease_take(lease)) {
        status = session_check(session, config, result);
        lease_give(lease);
    }
    session_limit(session, run->options->timeout);
    return status;
}

/* Takes the lock, since other workers may hand in results. */
static void tell(struct run *run, struct config_result *result, const char *first,
                 const struct alone_limit *limit)
{
    pthread_mutex_lock(&run->lock);
    run->hangs = result->outcome == OUTCOME_TIMEOUT;
    if (run->hangs && result->reason.stage == STAGE_LOADING)
        snprintf(result->detail, sizeof result->detail, "%.150s; again when it ran alone (%.80s)", first,
                 limit->why);
    else if (run->hangs)
        snprintf(result->detail, sizeof result->detail, "%.100s; again when it ran alone, within %.3g s (%s)",
                 first, limit->seconds, limit->why);
    else
        result_note(run->result, "%.200s: %.80s, but not when it ran alone, within %.3g s (%s)", result->line,
                    first, limit->seconds, limit->why);
    pthread_mutex_unlock(&run->lock);
}

static enum session_status run_alone(struct run *run, struct session *session, int i,
                                     const struct config_result *before, const struct run_attempt *attempt)
{
    struct config_result *result = &run->result->results[i];
    char first[RESULT_DETAIL_SIZE];
    const struct session_options options = run_session_options(run->task, run->options);
    memcpy(first, result->detail, sizeof first);
    if (!run->alone)
        run->alone = alone_open(run->task, &options);
    if (!run->alone)
        return SESSION_OK;
    const struct alone_limit limit = limit_of(run, i, result->reason.stage == STAGE_LOADING);
    if (is_interrupted() || budget_is_over())
        return SESSION_OK;
    *result = *before;
    const enum session_status status = attempt_alone(run, session, i, attempt, &limit);
    if (status == SESSION_OK && !is_interrupted() && !budget_is_over())
        tell(run, result, first, &limit);
    return status;
}

/* Workers between two configurations wait meanwhile. */
enum session_status run_settle_timeout(struct run *run, struct session *session, int i,
                                       const struct config_result *before, const struct run_attempt *attempt,
                                       enum session_status status)
{
    const struct config_result *result = &run->result->results[i];
    if (status != SESSION_OK || result->outcome != OUTCOME_TIMEOUT)
        return status;
    pthread_rwlock_wrlock(&run->running);
    if (!run->hangs && !is_interrupted())
        status = run_alone(run, session, i, before, attempt);
    pthread_rwlock_unlock(&run->running);
    return status;
}

enum session_status run_settle_kill(struct run *run, struct session *session, int i,
                                    const struct config_result *before, const struct run_attempt *attempt,
                                    enum session_status status)
{
    struct config_result *result = &run->result->results[i];
    const struct config *config = &run_drawn(run->task, i)->config;
    if (status != SESSION_OK || result->reason.cause != CAUSE_KILLED || is_interrupted())
        return status;
    *result = *before;
    status = attempt->timed ? session_time(session, config, attempt->time_budget, result)
                            : session_check(session, config, result);
    pthread_mutex_lock(&run->lock);
    if (status == SESSION_OK && result->reason.cause != CAUSE_KILLED && !is_interrupted())
        result_note(run->result, "%.200s: killed by signal 9, but not when it ran again", result->line);
    pthread_mutex_unlock(&run->lock);
    return status;
}
