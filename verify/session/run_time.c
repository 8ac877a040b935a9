/* Timing and late calls, after all configurations were checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/instantiate.h"
#include "gen/random/pcg.h"
#include "reports/record/published.h"
#include "fingerprints.h"
#include "run_internal.h"
#include "session_timing.h"
#include "verify/util/budget.h"
#include "verify/util/defence.h"
#include "verify/util/interrupt.h"

/* The configurations to time, in a random order, so that a candidate cannot distinguish timing from
 * checking. */
struct times {
    struct run *run;
    struct session *session;
    int *order; /* indices of configurations */
    int count;
    struct fingerprints *prints; /* in that order; NULL: this defence is disabled */
};

/* Do they differ only in input class and seed? Then one time serves both. */
static bool has_same_time(const struct run *run, int i, int k)
{
    const struct config *config = &run_drawn(run->task, i)->config;
    struct config other = run_drawn(run->task, k)->config;
    const int input = problem_input_axis(run->task->problem);
    if (input >= 0)
        other.value[input] = config->value[input];
    return config_same_point(&other, config);
}

static bool is_to_be_timed(const struct run *run, int i)
{
    return run->finished[i] && run->result->results[i].outcome == OUTCOME_PASS &&
           !run->result->results[i].scout && !run->result->results[i].directed;
}

static bool list_times(struct times *times)
{
    const struct run *run = times->run;
    struct pcg *random = pcg_new(run->result->seed, "timing");
    times->order = malloc(((size_t)run->total + 1) * sizeof *times->order);
    for (int i = 0; times->order && random && i < run->total; i++) {
        bool known = !is_to_be_timed(run, i);
        for (int k = 0; k < times->count && !known; k++)
            known = has_same_time(run, i, times->order[k]);
        if (known)
            continue;
        const int at = (int)pcg_below(random, (uint64_t)times->count + 1);
        times->order[times->count++] = times->order[at];
        times->order[at] = i;
    }
    const bool ok = times->order && random;
    pcg_free(random);
    return ok;
}

static void time_break(struct run *run, enum session_status status, const char *what,
                       const struct session *session)
{
    if (is_interrupted())
        return;
    run->status = status == SESSION_BAD ? RUN_BAD : RUN_BROKEN;
    snprintf(run->error, run->error_size, "%s%s", what, session_error(session));
}

static double budget_of(const struct run *run, int i)
{
    return run->options->time_budget * (run->result->results[i].unseen ? 1 : 4);
}

/* Reports a failure during timing at once. */
static void tell(const struct run *run, const struct config_result *result)
{
    if (!is_interrupted() && run->status == RUN_DONE && run->options->progress)
        run->options->progress(run->options->progress_data, run->result,
                               config_fails(result, run->options->published) ? result : NULL, run->total);
}

/* Stores the result of one configuration of a group. */
static void settle(const struct times *times, int i, const struct config_result *kept,
                   enum session_status status)
{
    struct run *run = times->run;
    struct config_result *result = &run->result->results[i];
    const struct alone_attempt again = {
        .config = &run_drawn(run->task, i)->config, .timed = true, .time_budget = budget_of(run, i)};
    struct retry retry = retry_begin(RETRY_STEP_TIME, kept);
    if (status == SESSION_OK) {
        run_note_kill(run, result);
        status = run_retry_timeout(run, times->session, &retry, &again, run->timeouts.limit, result);
    }
    if (status != SESSION_OK)
        time_break(run, status, "", times->session);
    if (is_interrupted() ||
        (budget_is_over() && !outcome_is_rejected(result->outcome) && !result->timing.present))
        *result = *kept; /* a "crash" of a killed child is nobody's fault */
    run->failed = run->failed || config_fails(result, run->options->published);
    run->excesses += result->outcome == OUTCOME_EXCEEDED;
    tell(run, result);
}

/* Times several configurations together, from index `first` of the order. Returns their number. */
static int time_group(const struct times *times, int first)
{
    enum { GROUP = 4 };
    struct run *run = times->run;
    struct timing_job job[GROUP];
    struct config_result *kept = malloc(GROUP * sizeof *kept);
    int count = 0, taken = 0;
    enum session_status status = SESSION_BROKEN;
    for (; kept && count < GROUP && first + count < times->count; count++) {
        const int i = times->order[first + count];
        kept[count] = run->result->results[i];
        job[count] = (struct timing_job){.config = &run_drawn(run->task, i)->config,
                                         .budget_seconds = budget_of(run, i),
                                         .result = &run->result->results[i],
                                         .prints = times->prints ? &times->prints[first + count] : NULL};
    }
    run_team(1);
    if (kept)
        status = session_time_several(times->session, job, count, &taken);
    else
        time_break(run, status, "out of memory", times->session);
    for (int k = 0; k < taken && run->status == RUN_DONE; k++)
        settle(times, times->order[first + k], &kept[k], status);
    free(kept);
    return taken > 0 ? taken : 1;
}

/* Copies times to configurations of another input class. */
static void share_times(const struct times *times)
{
    struct run *run = times->run;
    for (int i = 0; i < run->total; i++)
        for (int k = 0; k < times->count && is_to_be_timed(run, i) && !run->result->results[i].timing.present;
             k++)
            if (has_same_time(run, i, times->order[k]))
                run->result->results[i].timing = run->result->results[times->order[k]].timing;
}

static bool goes_on(const struct run *run)
{
    return !is_interrupted() && run->status == RUN_DONE && run_enough(run) == CAUSE_NONE;
}

static int disturbed_times(const struct times *times)
{
    int count = 0;
    for (int k = 0; k < times->count; k++) {
        const struct timing *timing = &times->run->result->results[times->order[k]].timing;
        count += timing->present && timing->disturbed;
    }
    return count;
}

/* Repeats disturbed timings, at most twice, if they are few: the disturbance may be over. If many are
 * disturbed, it is probably permanent. */
static void renew_times(const struct times *times)
{
    struct config_result *kept = malloc(sizeof *kept);
    int left = disturbed_times(times);
    for (int turn = 0; kept && turn < 2 && left > 0 && left <= 1 + times->count / 4; turn++) {
        for (int k = 0; k < times->count && goes_on(times->run); k++) {
            const int i = times->order[k];
            struct config_result *result = &times->run->result->results[i];
            if (!result->timing.present || !result->timing.disturbed)
                continue;
            *kept = *result;
            result->timing = (struct timing){0};
            settle(times, i, kept,
                   session_time(times->session, &run_drawn(times->run->task, i)->config,
                                budget_of(times->run, i), result));
        }
        left = disturbed_times(times);
    }
    free(kept);
}

/* Starts again if the candidate's clock turns out to be unreliable. */
static void time_groups(const struct times *times)
{
    struct company before = {0}, after = {0};
    for (int turn = 0; turn < 2; turn++) {
        session_company(times->session, &before);
        for (int done = 0; done < times->count && goes_on(times->run);)
            done += time_group(times, done);
        session_company(times->session, &after);
        if (before.disbelieved || !after.disbelieved)
            break;
    }
    if (!after.disbelieved)
        renew_times(times);
}

/* Recomputes timed calls by their fingerprints, when nothing else needs the time. */
static void recompute_times(const struct times *times)
{
    static const double share = 0.1; /* fraction of the time for timing */
    struct run *run = times->run;
    struct recompute_job *job = calloc((size_t)times->count + 1, sizeof *job);
    struct recomputed found = {0};
    int count = 0;
    for (int k = 0; job && times->prints && k < times->count; k++)
        if (is_to_be_timed(run, times->order[k]))
            job[count++] = (struct recompute_job){.config = &run_drawn(run->task, times->order[k])->config,
                                                  .prints = &times->prints[k],
                                                  .result = &run->result->results[times->order[k]]};
    const enum session_status status =
        count > 0 && goes_on(run) ? session_recompute(times->session, job, count, share, &found) : SESSION_OK;
    if (status != SESSION_OK)
        time_break(run, status, "", times->session);
    if (found.varies)
        result_note(
            run->result,
            "equal calls differ between processes, within the error bound: fingerprints of timed calls "
            "prove nothing, and only judged calls are checked");
    for (int k = 0; k < count; k++)
        if (job[k].result->outcome != OUTCOME_PASS) {
            run->failed = run->failed || config_fails(job[k].result, run->options->published);
            tell(run, job[k].result);
        }
    free(job);
}

struct session *run_open_baseline(const struct run *run)
{
    struct session_options options = run_session_options(run->task, run->options);
    options.object = run->task->baseline.object;
    options.python = build_python(&run->task->baseline);
    return session_open(&options);
}

/* Opens the session for all work after the checks, and announces `late` further processes: for late calls,
 * timing and recomputation. False: out of memory. */
static bool open_later(struct run *run, int late)
{
    const struct session_options options = run_session_options(run->task, run->options);
    const bool again = defence_is_on(DEFENCE_FINGERPRINTS);
    if (run->later)
        return true;
    run->later = session_open(&options);
    if (run->later)
        session_start_ahead(run->later, late + (run->options->timing ? 1 + again : 0));
    return run->later != NULL;
}

void run_end_later(struct run *run)
{
    if (!run->later)
        return;
    run_collect(run, run->later);
    session_company(run->later, &run->result->company);
    session_end(run->later, &run->result->phase);
    run->later = NULL;
}

void run_times(struct run *run)
{
    struct times times = {.run = run, .session = open_later(run, 0) ? run->later : NULL};
    if (times.session && list_times(&times)) {
        if (defence_is_on(DEFENCE_FINGERPRINTS))
            times.prints = calloc((size_t)times.count + 1, sizeof *times.prints);
        time_groups(&times);
        recompute_times(&times);
        share_times(&times);
        for (int i = 0; budget_is_over() && i < run->total; i++)
            run->result->untimed += is_to_be_timed(run, i) && !run->result->results[i].timing.present;
    } else {
        run_break(run, "out of memory");
    }
    free(times.order);
    free(times.prints);
}

/* Cost of a call: its work, and every byte of its tensors, which the judge copies each time. A cache of which
 * a call reads one row costs as much as one that is read completely. */
static double cost_of_call(const struct run *run, int i)
{
    const struct config *const config = &run_drawn(run->task, i)->config;
    struct instance instance;
    if (config_measure(config, &instance) != 0)
        return HUGE_VAL;
    const double cost = instance_total_bytes(config->problem, &instance) + instance.flops;
    instance_clear(&instance);
    return cost;
}

static int cheapest(const struct run *run)
{
    double least = HUGE_VAL;
    int best = -1;
    for (int i = 0; i < run->total; i++) {
        const double cost = is_to_be_timed(run, i) ? cost_of_call(run, i) : HUGE_VAL;
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

void run_late_calls(struct run *run)
{
    const int i = goes_on(run) && defence_is_on(DEFENCE_LATE) ? cheapest(run) : -1;
    if (i < 0 || !open_later(run, 1))
        return;
    struct session *const session = run->later;
    struct config_result *result = &run->result->results[i];
    const struct config_result kept = *result;
    run_team(1);
    const enum session_status status = session_late(session, &run_drawn(run->task, i)->config, result);
    if (status != SESSION_OK)
        time_break(run, status, "", session);
    /* the checks have waited for hangs, and a kill from outside proves nothing */
    if (is_interrupted() || budget_is_over() || result->outcome == OUTCOME_TIMEOUT ||
        result->reason.cause == CAUSE_KILLED)
        *result = kept;
    run->failed = run->failed || config_fails(result, run->options->published);
    tell(run, result);
}
