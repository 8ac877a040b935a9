#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/util/budget.h"
#include "verify/util/interrupt.h"
#include "run_internal.h"

/* A module may compile in its first call of a configuration, so that no shorter limit is safe. */
struct timeout_budget run_timeouts(const struct task *task, const struct run_options *options)
{
    const struct python *const python = build_python(&task->build);
    const double limit = python ? fmax(options->timeout, python->compile_timeout) : options->timeout;
    return timeout_budget_open(task->options.timeout_seconds, limit, python == NULL);
}

void run_note_timeouts(const struct run *run)
{
    char text[200];
    int unrun = 0;
    if (!run->timeouts.begun || run->timeouts.loading)
        return;
    for (int i = 0; i < run->total; i++)
        unrun += run->finished[i] && run->result->results[i].reason.cause == CAUSE_PATIENCE;
    timeout_budget_summary(&run->timeouts, unrun, text, sizeof text);
    result_note(run->result, "%s", text);
}

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
    const bool hangs = result->outcome == OUTCOME_TIMEOUT;
    const bool loading = hangs && result->reason.stage == STAGE_LOADING;
    pthread_mutex_lock(&run->lock);
    if (hangs)
        timeout_budget_begin(&run->timeouts, loading);
    if (loading)
        snprintf(result->detail, sizeof result->detail, "%.150s; again when it ran alone (%.80s)", first,
                 limit->why);
    else if (hangs)
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

/* A candidate that is known to hang is waited for twice only where it may just be slow. */
static unsigned facts_of(const struct run *run, const struct config *config, double limit,
                         const struct config_result *result)
{
    const struct timeout_budget *const known = &run->timeouts;
    if (!(result->reason.stage == STAGE_LOADING ? known->loading : known->begun))
        return RETRY_NO_HANG_YET;
    return limit >= known->limit && alone_is_slow(run->alone, config) ? RETRY_SLOW_BASELINE : RETRY_NO_FACTS;
}

static void count(struct run *run, const struct retry *retry, double limit, struct config_result *result)
{
    pthread_mutex_lock(&run->lock);
    const bool whole = timeout_budget_wait(&run->timeouts, limit);
    pthread_mutex_unlock(&run->lock);
    if (whole)
        return;
    *result = retry->before;
    session_skip(result, CAUSE_TIME);
    snprintf(result->detail, sizeof result->detail,
             "no answer within %.3g s; others had timed out, so that longer was not waited for", limit);
}

/* Workers between two configurations wait meanwhile. */
enum session_status run_retry_timeout(struct run *run, struct session *session, struct retry *retry,
                                      const struct alone_attempt *attempt, double limit,
                                      struct config_result *result)
{
    enum session_status status = SESSION_OK;
    if (!retry_find(RETRY_STEP_TIME, result, RETRY_NO_HANG_YET))
        return SESSION_OK;
    pthread_rwlock_wrlock(&run->running);
    const unsigned facts = facts_of(run, attempt->config, limit, result);
    const struct retry_rule *const rule = retry_again(retry, result, facts);
    if (rule)
        status = repeat(run, session, retry, rule, attempt, result);
    else if (facts == RETRY_NO_FACTS)
        count(run, retry, limit, result);
    pthread_rwlock_unlock(&run->running);
    return status;
}
