#include "run_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
#include <unistd.h>

#include "reference/error.h"
#include "reports/record/published.h"
#include "verify/worker/child.h"
#include "verify/sandbox/resource_usage.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"
#include "verify/util/interrupt.h"
#include "verify/device/processors.h"

/* Maximum number of process ends of a kernel that has passed nothing; more would show nothing new. On a GPU
 * each costs a context (half a second), and the small configurations alone are hundreds. */
enum { ENDS = 128, ENDS_CUDA = 32 };

/* Maximum number of deaths while loading, and of memory excesses, which disturb others; more would prove
 * nothing. A timeout counts only after it has repeated. */
enum { DEATHS = 4, EXCESSES = 2 };

const struct drawn *run_drawn(const struct task *task, int i)
{
    return i < task->seen_set.count ? &task->seen_set.item[i]
                                    : &task->unseen_set.item[i - task->seen_set.count];
}

/* Gives the candidate at least two threads: with one thread a race would never show. */
struct session_options run_session_options(const struct task *task, const struct run_options *options)
{
    const int jobs = options->jobs > 0 ? options->jobs : 1;
    const int threads = processors_available() / jobs;
    return (struct session_options){.problem = task->problem,
                                    .device = &task->device,
                                    .object = task->build.object,
                                    .tolerance = task->space.tolerance,
                                    .python = build_python(&task->build),
                                    .interpreter = task->options.python,
                                    .log_path = options->log_path,
                                    .timeout = options->timeout,
                                    .memory = options->memory > 0 ? options->memory
                                                                  : resource_usage_of_worker(jobs),
                                    .threads = threads < 2    ? 2
                                               : threads > 16 ? 16
                                                              : threads,
                                    .workers = jobs,
                                    .processes = options->processes,
                                    .lease = task->lease,
                                    .space = &task->space,
                                    .oracles = task->oracles,
                                    .shared = task->options.shared,
                                    .room = task->room};
}

void run_prepare(const struct task *task, const struct run_options *options)
{
    const struct session_options wanted = run_session_options(task, options);
    session_prepare(&wanted, options->jobs > 0 ? options->jobs : 1);
}

void run_team(int workers)
{
    const int cores = processors_available() / workers;
    omp_set_num_threads(processors_team(cores > 0 ? cores : 1));
}

/* A reason to stop running configurations; CAUSE_NONE: continue. */
enum cause run_enough(const struct run *run)
{
    if (run->options->fail_fast && run->failed)
        return CAUSE_FAIL_FAST;
    if (budget_is_over())
        return CAUSE_BUDGET;
    return timeout_budget_is_over(&run->timeouts) || run->deaths >= DEATHS || run->excesses >= EXCESSES ||
                   run->cut
               ? CAUSE_PATIENCE
               : CAUSE_NONE;
}

static void skip(const struct run *run, enum cause why, struct config_result *result)
{
    session_skip(result, why);
    if (why == CAUSE_FAIL_FAST)
        snprintf(result->detail, sizeof result->detail, "not run: --fail-fast after a failure");
    else if (why == CAUSE_BUDGET)
        snprintf(result->detail, sizeof result->detail, "not run to its end: --budget of %g s was over",
                 budget_seconds());
    else if (timeout_budget_is_over(&run->timeouts))
        timeout_budget_explain(&run->timeouts, result->detail, sizeof result->detail);
    else if (run->deaths >= DEATHS || run->excesses >= EXCESSES)
        snprintf(result->detail, sizeof result->detail, "not run: %d configurations before it had already %s",
                 run->deaths >= DEATHS ? run->deaths : run->excesses,
                 run->deaths >= DEATHS ? "died while loading" : "held more than it may");
    else
        snprintf(
            result->detail, sizeof result->detail,
            "not run: %d configurations before it had ended the candidate's process, and none had passed",
            run->task->device.backend == BACKEND_CUDA ? ENDS_CUDA : ENDS);
}

/* Counts in the order of the sets, whatever the order of completion. */
static void count_end(struct run *run, int i)
{
    const int most = run->task->device.backend == BACKEND_CUDA ? ENDS_CUDA : ENDS;
    const enum outcome outcome = run->result->results[i].outcome;
    run->passed = run->passed || outcome == OUTCOME_PASS;
    run->ends += run->ended[i] && outcome_is_rejected(outcome);
    if (!run->cut && !run->passed && run->ends == most)
        run->cut = i + 1;
}

static void mark_finished(struct run *run, int i)
{
    run->finished[i] = true;
    run->result->result_count++;
    while (run->ready < run->total && run->finished[run->ready])
        count_end(run, run->ready++);
}

/* Discards configurations that other workers had begun after the cut. */
static void leave_out_rest(struct run *run)
{
    for (int i = run->cut; run->cut && i < run->total; i++) {
        if (!run->finished[i])
            continue;
        run_describe(run->task, i, &run->result->results[i]);
        skip(run, CAUSE_PATIENCE, &run->result->results[i]);
    }
}

/* Returns the next configuration, or -1. Configurations that need not run are skipped here. */
static int take(struct run *run)
{
    enum cause why;
    pthread_mutex_lock(&run->lock);
    int i = run->status == RUN_DONE && !is_interrupted() && run->next < run->total ? run->next++ : -1;
    while (i >= 0 && (why = run_enough(run)) != CAUSE_NONE) {
        struct config_result *result = &run->result->results[i];
        run_describe(run->task, i, result);
        skip(run, why, result);
        mark_finished(run, i);
        i = run->next < run->total ? run->next++ : -1;
    }
    pthread_mutex_unlock(&run->lock);
    return i;
}

/* Only the first reason is kept. */
void run_break(struct run *run, const char *text)
{
    if (run->status != RUN_DONE)
        return;
    run->status = RUN_BROKEN;
    snprintf(run->error, run->error_size, "%s", text);
}

void run_collect(struct run *run, const struct session *session)
{
    int count = 0;
    const struct finding *finding = session_findings(session, &count);
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < run->result->finding_count; k++)
            known = known || run->result->finding[k].kind == finding[i].kind;
        if (known)
            continue;
        struct finding *grown =
            realloc(run->result->finding, (size_t)(run->result->finding_count + 1) * sizeof *grown);
        if (!grown) { /* without this finding the verdict could be different */
            run_break(run, "out of memory");
            return;
        }
        run->result->finding = grown;
        grown[run->result->finding_count++] = finding[i];
    }
    static const char unguarded[] = "its own allocations were not put between guards";
    const char *const why = session_unguarded(session);
    /* a process that was killed with the run has not failed; another worker may have reported it already */
    if (why && !is_interrupted() && !strstr(run->result->notes, unguarded))
        result_note(run->result, "%s: %.200s", unguarded, why);
}

static void finish(struct run *run, struct session *session, int i, enum session_status status, bool ended)
{
    pthread_mutex_lock(&run->lock);
    struct config_result *result = &run->result->results[i];
    if (status != SESSION_OK && run->status == RUN_DONE && !is_interrupted()) {
        run->status = status == SESSION_BAD ? RUN_BAD : RUN_BROKEN;
        snprintf(run->error, run->error_size, "%s", session_error(session));
    }
    if (status == SESSION_OK && !is_interrupted()) { /* a "crash" of a killed child is nobody's fault */
        run->ended[i] = ended;
        mark_finished(run, i);
        run->failed = run->failed || config_fails(result, run->options->published);
        run->deaths += result->outcome == OUTCOME_CRASH && result->reason.stage == STAGE_LOADING;
        run->excesses += result->outcome == OUTCOME_EXCEEDED;
        run->timeouts.answered |= result->outcome != OUTCOME_TIMEOUT && result->outcome != OUTCOME_SKIPPED;
        if (run->options->progress)
            run->options->progress(run->options->progress_data, run->result, result, run->ready);
    }
    pthread_mutex_unlock(&run->lock);
}

static enum session_status check_one(struct run *run, struct session *session, int i)
{
    const struct config *const config = &run_drawn(run->task, i)->config;
    struct config_result *result = &run->result->results[i];
    const double start = clock_seconds();
    run_describe(run->task, i, result);
    struct retry retry = retry_begin(RETRY_STEP_TIME, result);
    pthread_rwlock_rdlock(&run->running);
    pthread_mutex_lock(&run->lock);
    const double limit = timeout_budget_limit(&run->timeouts);
    const bool hangs = run->timeouts.begun;
    pthread_mutex_unlock(&run->lock);
    if (limit < run->timeouts.limit)
        session_limit(session, limit);
    session_twins(session, result->unseen && !hangs); /* a sibling that hangs costs as much */
    enum session_status status = session_check(session, config, result);
    pthread_rwlock_unlock(&run->running);
    if (status == SESSION_OK) {
        run_note_kill(run, result);
        status =
            run_retry_timeout(run, session, &retry, &(struct alone_attempt){.config = config}, limit, result);
    }
    if (status == SESSION_OK)
        status = session_attribute(session, config, result);
    if (status == SESSION_OK && budget_is_over() && !outcome_is_rejected(result->outcome)) {
        *result = retry.before; /* judged in part, or not at all */
        skip(run, CAUSE_BUDGET, result);
    }
    result->seconds = clock_seconds() - start;
    return status;
}

static void *work(void *data)
{
    struct run *run = data;
    const struct session_options options = run_session_options(run->task, run->options);
    struct session *session = session_open(&options);
    for (int i = session ? take(run) : -1; i >= 0; i = take(run)) {
        run_team(options.workers);
        const int losses = session_losses(session);
        const enum session_status status = check_one(run, session, i);
        finish(run, session, i, status, session_losses(session) > losses);
    }
    pthread_mutex_lock(&run->lock);
    if (session) {
        run_collect(run, session);
        session_end(session, &run->result->phase);
    } else {
        run_break(run, "out of memory");
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* A thread that waits for exclusive access takes precedence over new readers. */
static void open_locks(struct run *run)
{
    pthread_rwlockattr_t attributes;
    pthread_mutex_init(&run->lock, NULL);
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&run->running, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static void run_workers(struct run *run, int jobs)
{
    pthread_t thread[64];
    int started = 0;
    while (started < jobs && started < 64 && pthread_create(&thread[started], NULL, work, run) == 0)
        started++;
    if (started == 0)
        work(run);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

/* Closes the gaps that an early end has left. */
static void compact(struct run *run)
{
    int kept = 0;
    for (int i = 0; i < run->total; i++)
        if (run->finished[i]) {
            if (kept != i)
                run->result->results[kept] = run->result->results[i];
            kept++;
        }
    run->result->result_count = kept;
}

/* Reports a looser arithmetic only if at least a quarter of the judged configurations need it; a real
 * downgrade shows wherever sums are formed. */
static bool is_everywhere(int looser, int judged)
{
    return 4 * looser >= judged;
}

/* If results differ from call to call, no arithmetic is determined: the errors of a race look like those of a
 * narrow format. */
static void find_loosest(struct run *run)
{
    struct arithmetics arithmetics;
    int arithmetic = -1, looser = 0, judged = 0;
    bool unstable = false;
    error_arithmetics(run->task->problem, run->task->device.capability, &arithmetics);
    for (int i = 0; i < run->result->result_count; i++) {
        const struct config_result *const one = &run->result->results[i];
        unstable = unstable || one->outcome == OUTCOME_UNSTABLE;
        arithmetic = one->fits && one->arithmetic > arithmetic ? one->arithmetic : arithmetic;
        judged += one->fits != NULL;
        looser += one->fits && one->arithmetic > arithmetics.admitted;
    }
    arithmetic = unstable                                                              ? -1
                 : arithmetic > arithmetics.admitted && !is_everywhere(looser, judged) ? arithmetics.count
                                                                                       : arithmetic;
    run->result->admitted = arithmetics.item[arithmetics.admitted].name;
    run->result->fits = arithmetic < 0                   ? NULL
                        : arithmetic < arithmetics.count ? arithmetics.item[arithmetic].name
                                                         : "wrong";
    run->result->downgrade = arithmetic > arithmetics.admitted;
    run->result->unexplained = arithmetic >= arithmetics.count;
}

void run_say_sandbox(struct result *result)
{
    const char *const why = child_no_sandbox();
    snprintf(result->sandbox, sizeof result->sandbox, "%s", child_sandbox());
    snprintf(result->no_sandbox, sizeof result->no_sandbox, "%s", why ? why : "");
    defence_removed(result->without, sizeof result->without);
}

enum run_status run_task(const struct task *task, const struct run_options *options, struct result *result,
                         char *error, size_t error_size)
{
    struct run run = {.task = task,
                      .options = options,
                      .result = result,
                      .error = error,
                      .error_size = error_size,
                      .timeouts = run_timeouts(task, options),
                      .total = task->seen_set.count + task->unseen_set.count};
    run.finished = calloc((size_t)run.total + 1, sizeof *run.finished);
    run.ended = calloc((size_t)run.total + 1, sizeof *run.ended);
    result->results = calloc((size_t)run.total + 1, sizeof *result->results);
    if (!run.finished || !run.ended || !result->results) {
        snprintf(error, error_size, "out of memory");
        free(run.finished);
        free(run.ended);
        return RUN_BROKEN;
    }
    open_locks(&run);
    run_prepare(task, options);
    run_workers(&run, options->jobs > 0 ? options->jobs : 1);
    leave_out_rest(&run);
    if (run.status == RUN_DONE)
        run_late_calls(&run);
    if (*task->baseline.object && run.status == RUN_DONE)
        run_baseline(&run);
    if (options->timing && run.status == RUN_DONE && !is_interrupted()) {
        if (options->before_timing)
            options->before_timing(options->progress_data);
        run_times(&run);
    }
    run_end_later(&run);
    run_note_timeouts(&run);
    compact(&run);
    find_loosest(&run);
    run_say_sandbox(result);
    free(run.finished);
    free(run.ended);
    alone_close(run.alone);
    pthread_rwlock_destroy(&run.running);
    pthread_mutex_destroy(&run.lock);
    return run.status == RUN_DONE && is_interrupted() ? RUN_INTERRUPTED : run.status;
}
