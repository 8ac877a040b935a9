#include "retry_alone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "session_timing.h"
#include "verify/problem/folder.h"
#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

/* An honest kernel may be slower than the baseline by this factor. */
static const double times_baseline = 30;
/* Factor on --timeout without a baseline. */
static const double times_limit = 3;
/* Upper bound as a multiple of --timeout: 200 s for the default or a lower limit. */
static const double times_most = 10;

struct alone {
    const struct task *task;
    /* options of the candidate's sessions, except for the time limit of a call */
    struct session_options options;
    double limit; /* --timeout */
    struct build build;
    struct session *session; /* NULL: it could not be opened */
    bool tried;
};

struct alone *alone_open(const struct task *task, const struct session_options *options)
{
    struct alone *alone = calloc(1, sizeof *alone);
    if (!alone)
        return NULL;
    alone->task = task;
    alone->options = *options;
    alone->options.log_path = NULL;
    alone->limit = options->timeout;
    alone->options.timeout = times_limit * options->timeout; /* a busy machine slows the baseline down, too */
    return alone;
}

void alone_close(struct alone *alone)
{
    if (!alone)
        return;
    session_close(alone->session);
    build_clear(&alone->build);
    free(alone);
}

static void start_baseline(struct alone *alone)
{
    char path[1400], error[4096];
    const struct device *device = &alone->task->device;
    const struct build_options build = {.path = path,
                                        .backend = device->backend,
                                        .device = device->ordinal,
                                        .arch = device->arch,
                                        .timeout = fmin(600, budget_left())};
    alone->tried = true;
    if (folder_source(alone->task->problem, device->backend == BACKEND_CUDA ? "baseline.cu" : "baseline.c",
                      path, sizeof path) != 0 ||
        build_candidate(&alone->build, &build, error, sizeof error) != BUILD_OK)
        return;
    alone->options.object = alone->build.object;
    alone->options.python = NULL;
    alone->session = session_open(&alone->options);
}

/* The limit for one configuration, from the baseline's time. */
static struct alone_limit baseline_limit(struct alone *alone, const struct config *config)
{
    const double least = alone->limit;
    const double most = times_most * (least > CALL_SECONDS ? least : CALL_SECONDS);
    struct alone_limit limit = {.seconds = times_limit * least};
    double seconds = 0;
    if (!alone->tried)
        start_baseline(alone);
    if (!alone->session || session_measure(alone->session, config, &seconds) != SESSION_OK || seconds <= 0) {
        snprintf(limit.why, sizeof limit.why,
                 "%g times --timeout: the problem's baseline could not be timed here", times_limit);
        return limit;
    }
    limit.seconds = times_baseline * seconds;
    limit.measured = true;
    snprintf(limit.why, sizeof limit.why, "%g times the %.3g s that the problem's baseline takes",
             times_baseline, seconds);
    if (limit.seconds < least)
        snprintf(limit.why, sizeof limit.why,
                 "--timeout, above %g times the %.3g s of the problem's baseline", times_baseline, seconds);
    else if (limit.seconds > most)
        snprintf(limit.why, sizeof limit.why,
                 "%g times --timeout, below %g times the %.3g s of the problem's baseline", most / least,
                 times_baseline, seconds);
    limit.seconds = limit.seconds < least ? least : limit.seconds > most ? most : limit.seconds;
    return limit;
}

/* A second measurement guards against a first one that the machine disturbed. */
bool alone_is_slow(struct alone *alone, const struct config *config)
{
    bool slow = true;
    for (int i = 0; i < 2 && slow; i++) {
        const struct alone_limit limit = baseline_limit(alone, config);
        slow = limit.measured && limit.seconds > alone->limit;
    }
    return slow;
}

static struct alone_limit limit_of(struct alone *alone, const struct retry_rule *rule,
                                   const struct config *config)
{
    struct alone_limit limit = {.seconds = alone->limit};
    if (rule->condition == RETRY_ALONE_BASELINE)
        return baseline_limit(alone, config);
    snprintf(limit.why, sizeof limit.why, "the limit of loading %s",
             build_python(&alone->task->build) ? "is --compile-timeout" : "follows --timeout");
    return limit;
}

static enum session_status make_attempt(const struct alone *alone, struct session *session,
                                        const struct alone_attempt *attempt, struct config_result *result)
{
    struct lease *const lease = alone->task->lease;
    enum session_status status = SESSION_OK;
    if (attempt->timed) /* it takes the lease itself */
        return session_time(session, attempt->config, attempt->time_budget, result);
    if (lease_take(lease)) {
        status = session_check(session, attempt->config, result);
        lease_give(lease);
    }
    return status;
}

enum session_status alone_repeat(struct alone *alone, struct session *session, const struct retry *retry,
                                 const struct retry_rule *rule, const struct alone_attempt *attempt,
                                 struct config_result *result, struct alone_limit *limit, bool *repeated)
{
    *limit = limit_of(alone, rule, attempt->config);
    *repeated = !is_interrupted() && !budget_is_over();
    if (!*repeated)
        return SESSION_OK;
    *result = retry->before;
    session_limit(session, limit->seconds);
    const enum session_status status = make_attempt(alone, session, attempt, result);
    session_limit(session, alone->limit);
    return status;
}
