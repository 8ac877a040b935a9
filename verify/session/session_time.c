/* Timing: calls with cold caches on data of the published class, for several configurations interleaved at
 * random. It continues until each median's interval is narrow or the budget is spent. Secretly chosen outputs
 * are judged like any others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/measure/score.h"
#include "timed.h"
#include "verify/system/defence.h"

/* Slow kernels get one sample, then as many as fit. */
static bool has_enough(struct timed *timed)
{
    if (timed->processes > 0)
        return timed->count - timed->begin[timed->processes] >= OF_A_PROCESS;
    const double budget = (timed->count < LEAST_SAMPLES ? 4 : 1) * timed->job->budget_seconds;
    if (timed->count == 0)
        return false;
    return timed->count == MOST_SAMPLES || timed->spent >= budget ||
           (timed->count % LEAST_SAMPLES == 0 && timed_is_tight(timed));
}

/* Chooses the next configuration at random, so that earlier calls do not reveal it. */
static void sample_all(struct session *s, struct timed *timed, int count, struct pcg *random)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        left += !timed[i].over;
    while (left > 0 && s->status == SESSION_OK) {
        struct timed *next = &timed[pcg_below(random, (uint64_t)count)];
        if (next->over)
            continue;
        next->over = !timed_sample(s, next) || has_enough(next);
        left -= next->over;
    }
}

/* If another process is not available, or not for long enough, the samples of the others stay. */
static bool is_cut_off(struct session *s, struct timed *timed, int count)
{
    bool cut = session_end(s) == SESSION_SHORT;
    for (int i = 0; i < count; i++) {
        const enum cause cause = timed[i].series.ended.reason.cause;
        if (timed[i].series.ended.outcome != OUTCOME_SKIPPED ||
            (cause != CAUSE_MEMORY && cause != CAUSE_BUDGET))
            continue;
        timed[i].series.ended = (struct call_result){.outcome = OUTCOME_PASS};
        cut = true;
    }
    return cut;
}

/* Takes further samples in new processes. Each process draws anew where its context lies. That changes the
 * time of an empty kernel by a tenth, and of other short kernels by as much. */
static void sample_elsewhere(struct session *s, struct timed *timed, int count, struct pcg *random)
{
    static const double ceiling = 30; /* seconds */
    if (s->options.processes <= 1)
        return;
    const double end = clock_seconds() + ceiling;
    for (int p = 1;
         p < s->options.processes && p < PROCESSES_MOST && clock_seconds() < end && s->status == SESSION_OK;
         p++) {
        int open = 0;
        for (int i = 0; i < count; i++) {
            const bool goes_on =
                timed[i].series.ended.outcome == OUTCOME_PASS && timed_is_short(s, &timed[i]);
            timed[i].over = !goes_on;
            if (goes_on)
                timed_enter(&timed[i]);
            open += goes_on;
        }
        if (open == 0)
            break;
        if (s->ahead.count == 0)
            ahead_start(&s, 1, s->options.processes - p, random);
        session_restart(s);
        sample_all(s, timed, count, random);
        if (is_cut_off(s, timed, count))
            break;
    }
    ahead_drop(s);
}

/* Called while session_time_several holds the lease, so no other `unseen` times on this device. */
static void take_times(struct session *s, struct timed *timed, int count)
{
    s->disturbed = false;
    session_look(s);
    const bool ready = session_keeps_pace(s, true);
    struct pcg *random = pcg_new(timed[0].config.seed, "turns");
    if (random) {
        sample_all(s, timed, count, random);
        sample_elsewhere(s, timed, count, random);
    } else {
        session_failed(s, "timing", -1);
    }
    pcg_free(random);
    session_look(s);
    const bool slow = !session_keeps_pace(s, false) || !ready;
    for (int i = 0; i < count && s->status == SESSION_OK; i++) {
        timed[i].slow = slow;
        const bool shared = s->disturbed;
        timed_check(s, &timed[i]);
        timed[i].job->result->timing.disturbed = s->disturbed;
        s->disturbed = shared;
    }
    lease_give(s->options.lease);
}

/* Judges the kept outputs of one configuration and stores its result. */
static void finish(struct session *s, struct timed *timed)
{
    if (timed_judge(s, timed) && timed->count)
        timed_summarize(s, timed);
    timed->job->short_of_memory =
        timed->series.ended.reason.cause == CAUSE_MEMORY || session_was_short(s, timed->job->result);
}

/* Sets up as many configurations as fit into memory, at least one. */
static int open_all(struct session *s, struct timing_job *job, int count, struct timed *timed)
{
    int opened = 0;
    while (opened < count && opened < SESSION_POOL && s->status == SESSION_OK) {
        struct timed *next = &timed[opened];
        next->job = &job[opened];
        next->config = timed_config(job[opened].config);
        next->series.where = "a timed call";
        next->series.prints = job[opened].prints;
        s->now = &s->setup[opened];
        next->open = series_open(&next->series, s, &next->config, TIMED_CONTENT) == 0;
        /* Leaves half of the memory to the candidate's own allocations. */
        const bool too_much = opened > 0 && s->memory->available() < s->options.device->memory_bytes / 2;
        if (opened > 0 && (!next->open || too_much))
            series_close(&next->series, s);
        if (!next->open || too_much)
            break;
        opened++;
    }
    return opened;
}

/* Makes the first call of each configuration before taking the lease, since a candidate in Python may compile
 * for seconds. Returns how many, from the first on, may be timed; 0: the first one failed, as its result
 * says. */
static int warm_up(struct session *s, const struct timing_job *job, int count)
{
    enum { WARM_CONTENT = 1 << 20 }; /* far from the draws of timed calls */
    struct worst worst = {0};
    int warm = 0;
    if (!s->options.python)
        return count;
    if (!room_enter(s->options.room))
        return 0;
    for (bool ok = true; ok && warm < count; warm += ok) {
        const struct config config = timed_config(job[warm].config);
        struct series series = {.where = "a timed call"};
        struct series_call call;
        const double start = clock_seconds();
        s->now = s->setup;
        if (series_open(&series, s, &config, WARM_CONTENT) == 0)
            series_call(&series, s, &call); /* without memory there is nothing to compile */
        if (job[warm].prints)
            job[warm].prints->first = clock_seconds() - start;
        ok = s->status == SESSION_SHORT ||
             (s->status == SESSION_OK && series.ended.outcome == OUTCOME_PASS) ||
             series.ended.reason.cause == CAUSE_MEMORY;
        if (!ok && warm == 0 && s->status == SESSION_OK)
            series_report_ended(&series, &worst, job->result);
        series_close(&series, s);
        session_end(s);
    }
    room_leave(s->options.room);
    return warm;
}

static void time_inside(struct session *s, struct timing_job *job, int count, int *taken)
{
    struct timed *timed = calloc(SESSION_POOL, sizeof *timed);
    const int opened = timed ? open_all(s, job, count, timed) : 0;
    /* a configuration without memory has passed all the same; it only has no time */
    *taken = opened > 0 ? opened : 1;
    job[0].short_of_memory = opened == 0;
    s->free_bytes = (double)s->memory->available();
    if (!timed)
        session_failed(s, "timing", -1);
    if (opened > 0)
        take_times(s, timed, opened);
    double bytes = 0;
    for (int i = 0; i < opened; i++) {
        finish(s, &timed[i]);
        bytes += job[i].result->bytes;
        series_close(&timed[i].series, s);
    }
    session_give_back(s, bytes);
    if (timed && opened == 0)
        series_close(&timed[0].series, s);
    s->now = s->setup;
    free(timed);
    session_end(s);
}

/* Times a configuration that lacked memory, when no other process holds any. It has passed; if others hold
 * memory all the same, it has no time. */
static void time_alone(struct session *s, struct timing_job *job, const struct config_result *before)
{
    int taken;
    if (s->status != SESSION_OK || !lease_take(s->options.lease) || !room_enter_alone(s->options.room))
        return;
    *job->result = *before;
    time_inside(s, job, 1, &taken);
    session_settle_alone(s, job->result);
    if (job->result->outcome == OUTCOME_SKIPPED)
        *job->result = *before;
    room_leave_alone(s->options.room);
}

/* Takes the lease before entering the gate. So no process waits for the lease inside the gate, and one that
 * wants the device alone need not, either. */
static void time_beside_others(struct session *s, struct timing_job *job, int count, int *taken)
{
    struct config_result *before = malloc((size_t)count * sizeof *before);
    for (int i = 0; before && i < count; i++)
        before[i] = *job[i].result;
    const int warm = before ? warm_up(s, job, count) : 0;
    *taken = warm > 0 ? warm : 1;
    if (!before)
        session_failed(s, "timing", -1);
    for (int i = 0; before && i < *taken; i++)
        job[i].short_of_memory = warm == 0 && session_was_short(s, job[i].result);
    if (warm > 0 && lease_take(s->options.lease) && room_enter(s->options.room)) {
        time_inside(s, job, warm, taken);
        room_leave(s->options.room);
    }
    for (int i = 0; before && i < *taken; i++)
        if (job[i].short_of_memory)
            time_alone(s, &job[i], &before[i]);
    lease_give(s->options.lease);
    free(before);
}

enum session_status session_time_several(struct session *s, struct timing_job *job, int count, int *taken)
{
    const double start = clock_seconds(), before = session_not_timing(s);
    const double waited = lease_waited(s->options.lease);
    *taken = count;
    time_beside_others(s, job, count, taken);
    s->seconds.time += clock_seconds() - start - (session_not_timing(s) - before) -
                       (lease_waited(s->options.lease) - waited);
    return s->status;
}

enum session_status session_time(struct session *s, const struct config *config, double budget_seconds,
                                 struct config_result *result)
{
    struct timing_job job = {.config = config, .budget_seconds = budget_seconds, .result = result};
    int taken;
    return session_time_several(s, &job, 1, &taken);
}

/* --- late calls --- */

/* Number of late calls: all of them for a cheap configuration, and a tenth for an expensive one. A slow
 * kernel makes as many as fit, since a correct kernel is correct in all of them. */
static const double cheap_bytes = 64e6, cheap_seconds = 0.01, late_ceiling = 5;
enum { LATE_CALLS = 520, LATE_FEW = 60, LATE_SPREAD = 10 };

/* Judges the 50th call or one soon after, and the 500th. */
static void run_late(struct session *s, struct series *series, struct config_result *result)
{
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct totals totals = {scratch, -1};
    struct series_call call;
    const struct problem *problem = s->options.problem;
    const double seconds =
        s->options.device->backend == BACKEND_CUDA ? 0 : series->instance.flops * problem->host_ns * 1e-9;
    const bool cheap =
        instance_total_bytes(problem, &series->instance) <= cheap_bytes && seconds <= cheap_seconds;
    const int early = LATE_FEW - LATE_SPREAD + (int)pcg_below(series->random, LATE_SPREAD);
    const int wanted[KEEP_COUNT] = {
        cheap ? LATE_CALLS - LATE_SPREAD + (int)pcg_below(series->random, LATE_SPREAD) : 0, early};
    const int most = cheap ? LATE_CALLS : LATE_FEW;
    const double end = clock_seconds() + late_ceiling;
    series->wanted = wanted;
    while (series->calls < most && clock_seconds() < end && series_call(series, s, &call))
        ;
    if (!scratch)
        session_failed(s, "late calls", -1);
    if (s->status == SESSION_OK && series->ended.outcome == OUTCOME_PASS)
        series_judge(series, s, &totals);
    /* If a late call cannot be judged, the results of the checks stay. */
    if (s->status == SESSION_OK && outcome_is_rejected(series->ended.outcome) &&
        series->ended.reason.cause != CAUSE_MEMORY)
        series_report_ended(series, &scratch->worst, result);
    free(scratch);
}

enum session_status session_late(struct session *s, const struct config *config, struct config_result *result)
{
    const struct config timed = timed_config(config);
    const double start = clock_seconds(), before = session_not_timing(s);
    struct series series = {.where = "a late call"};
    if (!room_enter(s->options.room))
        return s->status;
    s->now = s->setup;
    session_restart(s); /* so that the count of calls starts here */
    if (series_open(&series, s, &timed, TIMED_CONTENT) == 0)
        run_late(s, &series, result);
    series_close(&series, s);
    session_restart(s);
    session_end(s);
    room_leave(s->options.room);
    s->seconds.time += clock_seconds() - start - (session_not_timing(s) - before);
    return s->status;
}

/* The first call includes first-touch page faults and similar costs, so the limit is generous. */
static double measure_call(struct session *s, const struct config *config, const struct instance *instance)
{
    struct call call = {0};
    struct call_result result = {0};
    struct child_answer answer = {.returned = 1};
    char text[RESULT_DETAIL_SIZE];
    session_arguments(s, instance, &call);
    if (!slots_fill(s, config, instance, TIMED_CONTENT) || !slots_place(s, 0, PLACE_LOW, NULL, &call) ||
        !session_child(s, &result))
        return 0;
    const double start = clock_seconds();
    const enum child_status status =
        child_call(s->child, &call, session_call_limit(s), &answer, text, sizeof text);
    const double seconds = clock_seconds() - start;
    if (status != CHILD_OK)
        session_child_failed(s, status, text, &result);
    return status == CHILD_OK && answer.returned == 0 ? seconds : 0;
}

enum session_status session_measure(struct session *s, const struct config *config, double *seconds)
{
    struct instance instance;
    char why[RESULT_DETAIL_SIZE];
    *seconds = 0;
    if (config_instantiate(config, TIMED_CONTENT, &instance) != 0)
        session_failed(s, "drawing the configuration", -1);
    else if (slots_create(s, &instance, why, sizeof why) == 0)
        *seconds = measure_call(s, config, &instance);
    session_unmap(s);
    instance_clear(&instance);
    session_end(s);
    return s->status;
}
