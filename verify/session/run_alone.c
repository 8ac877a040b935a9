#include <stdio.h>
#include <string.h>

#include "verify/system/interrupt.h"
#include "run_internal.h"

static enum session_status attempt_alone(struct run *run, struct session *session, int i,
                                         const struct run_attempt *attempt, struct alone_limit *limit)
{
    struct config_result *result = &run->result->results[i];
    const struct config *config = &run_drawn(run->task, i)->config;
    struct lease *lease = run->task->lease;
    enum session_status status = SESSION_OK;
    *limit = alone_limit(run->alone, config);
    session_limit(session, limit->seconds);
    if (attempt->timed) { /* takes the lease itself */
        status = session_time(session, config, attempt->time_budget, result);
    } else if (lease_take(lease)) {
        status = session_check(session, config, result);
        lease_give(lease);
    }
    session_limit(session, run->options->timeout);
    return status;
}

/* Other workers may be handing in what they have finished. */
static void tell(struct run *run, struct config_result *result, const char *first,
                 const struct alone_limit *limit)
{
    pthread_mutex_lock(&run->lock);
    run->hangs = result->outcome == OUTCOME_TIMEOUT;
    if (run->hangs)
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
    struct alone_limit limit;
    char first[RESULT_DETAIL_SIZE];
    const struct session_options options = run_session_options(run->task, run->options);
    memcpy(first, result->detail, sizeof first);
    if (!run->alone)
        run->alone = alone_open(run->task, &options);
    if (!run->alone)
        return SESSION_OK;
    *result = *before;
    const enum session_status status = attempt_alone(run, session, i, attempt, &limit);
    if (status == SESSION_OK && !is_interrupted())
        tell(run, result, first, &limit);
    return status;
}

/* The workers that are between two configurations stay there meanwhile. */
enum session_status run_settle_timeout(struct run *run, struct session *session, int i,
                                       const struct config_result *before, const struct run_attempt *attempt,
                                       enum session_status status)
{
    const struct config_result *result = &run->result->results[i];
    if (status != SESSION_OK || result->outcome != OUTCOME_TIMEOUT || result->unseen)
        return status;
    pthread_rwlock_wrlock(&run->running);
    if (!run->hangs && !is_interrupted())
        status = run_alone(run, session, i, before, attempt);
    pthread_rwlock_unlock(&run->running);
    return status;
}
