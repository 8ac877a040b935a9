#include <stdio.h>
#include <string.h>

#include "verify/util/budget.h"
#include "verify/util/interrupt.h"
#include "run_internal.h"

void run_note_kill(struct run *run, const struct config_result *result)
{
    if (!result->killed_once || is_interrupted())
        return;
    pthread_mutex_lock(&run->lock);
    result_note(run->result, "%.200s: killed by signal 9, but not when it ran again", result->line);
    pthread_mutex_unlock(&run->lock);
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

static enum session_status repeat(struct run *run, struct session *session, const struct retry *retry,
                                  const struct retry_rule *rule, const struct alone_attempt *attempt,
                                  struct config_result *result)
{
    char first[RESULT_DETAIL_SIZE];
    struct alone_limit limit;
    bool repeated = false;
    const struct session_options options = run_session_options(run->task, run->options);
    memcpy(first, result->detail, sizeof first);
    if (!run->alone)
        run->alone = alone_open(run->task, &options);
    if (!run->alone)
        return SESSION_OK;
    const enum session_status status =
        alone_repeat(run->alone, session, retry, rule, attempt, result, &limit, &repeated);
    if (repeated && status == SESSION_OK && !is_interrupted() && !budget_is_over())
        tell(run, result, first, &limit);
    return status;
}

/* Workers between two configurations wait meanwhile. */
enum session_status run_retry_timeout(struct run *run, struct session *session, struct retry *retry,
                                      const struct alone_attempt *attempt, struct config_result *result)
{
    enum session_status status = SESSION_OK;
    if (!retry_find(RETRY_STEP_TIME, result, RETRY_NO_HANG_YET))
        return SESSION_OK;
    pthread_rwlock_wrlock(&run->running);
    const struct retry_rule *const rule =
        retry_again(retry, result, run->hangs ? RETRY_NO_FACTS : RETRY_NO_HANG_YET);
    if (rule)
        status = repeat(run, session, retry, rule, attempt, result);
    pthread_rwlock_unlock(&run->running);
    return status;
}
