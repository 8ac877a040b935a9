/* Timing: calls with cold caches on data of the published class, for several configurations interleaved at
 * random. It continues until each median's interval is narrow or the budget is spent. Secretly chosen outputs
 * are judged like any others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/score/score.h"
#include "timed.h"
#include "verify/util/defence.h"

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
    while (left > 0 && s->status.code == SESSION_OK) {
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
    bool cut = status_end(&s->status) == SESSION_SHORT;
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
    for (int p = 1; p < s->options.processes && p < PROCESSES_MOST && clock_seconds() < end &&
                    s->status.code == SESSION_OK;
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
        if (s->worker.pool.count == 0)
            process_pool_start(&(struct worker *){&s->worker}, 1, s->options.processes - p, random);
        worker_restart(&s->worker);
        sample_all(s, timed, count, random);
        if (is_cut_off(s, timed, count))
            break;
    }
    process_pool_drop(&s->worker);
}

/* Called while session_time_several holds the lease, so no other `unseen` times on this device. */
static void take_times(struct session *s, struct timed *timed, int count)
{
    s->evidence.disturbed = false;
    evidence_look(&s->evidence, s->options.device, s->options.lease);
    const bool ready = evidence_keeps_pace(&s->evidence, s->options.device, true);
    struct pcg *random = pcg_new(timed[0].config.seed, "turns");
    if (random) {
        sample_all(s, timed, count, random);
        sample_elsewhere(s, timed, count, random);
    } else {
        status_failed(&s->status, "timing", -1);
    }
    pcg_free(random);
    evidence_look(&s->evidence, s->options.device, s->options.lease);
    const bool slow = !evidence_keeps_pace(&s->evidence, s->options.device, false) || !ready;
    for (int i = 0; i < count && s->status.code == SESSION_OK; i++) {
        timed[i].slow = slow;
        const bool shared = s->evidence.disturbed;
        timed_check(s, &timed[i]);
        timed[i].job->result->timing.disturbed = s->evidence.disturbed;
        s->evidence.disturbed = shared;
    }
    lease_give(s->options.lease);
}

/* Notes whether a configuration is timed again for lack of memory. `skipped`: its tensors or a call found
 * none, while its result still is that of the checks. */
static void note_memory(struct session *s, struct timing_job *job, struct retry *retry, bool skipped)
{
    struct config_result ended = *job->result;
    if (skipped)
        session_skip(&ended, CAUSE_MEMORY);
    job->short_of_memory = memory_was_short(&s->worker, retry, &ended);
}

/* Judges the kept outputs of one configuration and stores its result. */
static void finish(struct session *s, struct timed *timed, struct retry *retry)
{
    if (timed_judge(s, timed) && timed->count)
        timed_summarize(s, timed);
    note_memory(s, timed->job, retry, timed->series.ended.reason.cause == CAUSE_MEMORY);
}

/* Sets up as many configurations as fit into memory, at least one. */
static int open_all(struct session *s, struct timing_job *job, int count, struct timed *timed)
{
    int opened = 0;
    while (opened < count && opened < BUFFERS_SETUPS && s->status.code == SESSION_OK) {
        struct timed *next = &timed[opened];
        next->job = &job[opened];
        next->config = timed_config(job[opened].config);
        next->series.where = "a timed call";
        next->series.prints = job[opened].prints;
        s->buffers.now = &s->buffers.setup[opened];
        next->open = series_open(&next->series, s, &next->config, TIMED_CONTENT) == 0;
        /* Leaves half of the memory to the candidate's own allocations. */
        const bool too_much =
            opened > 0 && s->buffers.memory->available() < s->options.device->memory_bytes / 2;
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
    if (!memory_gate_enter(s->options.room))
        return 0;
    for (bool ok = true; ok && warm < count; warm += ok) {
        const struct config config = timed_config(job[warm].config);
        struct series series = {.where = "a timed call"};
        struct series_call call;
        const double start = clock_seconds();
        s->buffers.now = s->buffers.setup;
        if (series_open(&series, s, &config, WARM_CONTENT) == 0)
            series_call(&series, s, &call); /* without memory there is nothing to compile */
        if (job[warm].prints)
            job[warm].prints->first = clock_seconds() - start;
        ok = s->status.code == SESSION_SHORT ||
             (s->status.code == SESSION_OK && series.ended.outcome == OUTCOME_PASS) ||
             series.ended.reason.cause == CAUSE_MEMORY;
        if (!ok && warm == 0 && s->status.code == SESSION_OK)
            series_report_ended(&series, &worst, job->result);
        series_close(&series, s);
        status_end(&s->status);
    }
    memory_gate_leave(s->options.room);
    return warm;
}

static void time_inside(struct session *s, struct timing_job *job, struct retry *retry, int count, int *taken)
{
    struct timed *timed = calloc(BUFFERS_SETUPS, sizeof *timed);
    const int opened = timed ? open_all(s, job, count, timed) : 0;
    /* a configuration without memory has passed all the same; it only has no time */
    *taken = opened > 0 ? opened : 1;
    if (opened == 0)
        note_memory(s, job, retry, true);
    s->worker.shortage.free_bytes = (double)s->buffers.memory->available();
    if (!timed)
        status_failed(&s->status, "timing", -1);
    if (opened > 0)
        take_times(s, timed, opened);
    double bytes = 0;
    for (int i = 0; i < opened; i++) {
        finish(s, &timed[i], &retry[i]);
        bytes += job[i].result->bytes;
        series_close(&timed[i].series, s);
    }
    memory_give_back(&s->worker, bytes);
    if (timed && opened == 0)
        series_close(&timed[0].series, s);
    s->buffers.now = s->buffers.setup;
    free(timed);
    status_end(&s->status);
}

/* Times a configuration that lacked memory, when no other process holds any. It has passed; if others hold
 * memory all the same, it has no time. */
static void time_alone(struct session *s, struct timing_job *job, struct retry *retry)
{
    int taken;
    if (s->status.code != SESSION_OK || !lease_take(s->options.lease) ||
        !memory_gate_enter_alone(s->options.room))
        return;
    *job->result = retry->before;
    time_inside(s, job, retry, 1, &taken);
    memory_settle(&s->worker, job->result);
    if (job->result->outcome == OUTCOME_SKIPPED)
        *job->result = retry->before;
    memory_gate_leave_alone(s->options.room);
}

/* Takes the lease before entering the gate. So no process waits for the lease inside the gate, and one that
 * wants the device alone need not, either. */
static void time_beside_others(struct session *s, struct timing_job *job, int count, int *taken)
{
    const bool alone = s->options.shared != NULL; /* a batch checks side by side, but times alone */
    struct retry *retry = malloc((size_t)count * sizeof *retry);
    for (int i = 0; retry && i < count; i++) {
        retry[i] = retry_begin(RETRY_STEP_MEMORY, job[i].result);
        job[i].short_of_memory = false;
    }
    const int warm = retry ? warm_up(s, job, count) : 0;
    *taken = warm > 0 ? warm : 1;
    if (!retry)
        status_failed(&s->status, "timing", -1);
    else if (warm == 0)
        note_memory(s, job, retry, false);
    if (warm > 0 && lease_take(s->options.lease) && memory_gate_enter_as(s->options.room, alone)) {
        time_inside(s, job, retry, warm, taken);
        memory_gate_leave_as(s->options.room, alone);
    }
    for (int i = 0; retry && i < *taken; i++)
        if (job[i].short_of_memory)
            time_alone(s, &job[i], &retry[i]);
    lease_give(s->options.lease);
    free(retry);
}

static enum session_status time_once(struct session *s, struct timing_job *job, int count, int *taken)
{
    const double start = clock_seconds(), before = evidence_not_timing(&s->evidence);
    const double waited = lease_waited(s->options.lease);
    *taken = count;
    time_beside_others(s, job, count, taken);
    s->evidence.seconds.time += clock_seconds() - start - (evidence_not_timing(&s->evidence) - before) -
                                (lease_waited(s->options.lease) - waited);
    return s->status.code;
}

enum session_status session_time_several(struct session *s, struct timing_job *job, int count, int *taken)
{
    struct retry *retry = malloc((size_t)count * sizeof *retry);
    for (int i = 0; retry && i < count; i++) {
        job[i].result->killed_once = false;
        retry[i] = retry_begin(RETRY_STEP_SIGNAL, job[i].result);
    }
    *taken = 1;
    if (retry)
        time_once(s, job, count, taken);
    else
        status_failed(&s->status, "timing", -1);
    for (int i = 0, one; retry && i < *taken && s->status.code == SESSION_OK; i++) {
        if (!retry_again(&retry[i], job[i].result, RETRY_NO_FACTS))
            continue;
        struct timing_job again = {
            .config = job[i].config, .budget_seconds = job[i].budget_seconds, .result = job[i].result};
        *job[i].result = retry[i].before;
        time_once(s, &again, 1, &one);
        job[i].result->killed_once = job[i].result->reason.cause != CAUSE_KILLED;
    }
    free(retry);
    return s->status.code;
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
        status_failed(&s->status, "late calls", -1);
    if (s->status.code == SESSION_OK && series->ended.outcome == OUTCOME_PASS)
        series_judge(series, s, &totals);
    /* If a late call cannot be judged, the results of the checks stay. */
    if (s->status.code == SESSION_OK && outcome_is_rejected(series->ended.outcome) &&
        series->ended.reason.cause != CAUSE_MEMORY)
        series_report_ended(series, &scratch->worst, result);
    free(scratch);
}

enum session_status session_late(struct session *s, const struct config *config, struct config_result *result)
{
    const struct config timed = timed_config(config);
    const double start = clock_seconds(), before = evidence_not_timing(&s->evidence);
    struct series series = {.where = "a late call"};
    if (!memory_gate_enter(s->options.room))
        return s->status.code;
    s->buffers.now = s->buffers.setup;
    worker_restart(&s->worker); /* so that the count of calls starts here */
    if (series_open(&series, s, &timed, TIMED_CONTENT) == 0)
        run_late(s, &series, result);
    series_close(&series, s);
    worker_restart(&s->worker);
    status_end(&s->status);
    memory_gate_leave(s->options.room);
    s->evidence.seconds.time += clock_seconds() - start - (evidence_not_timing(&s->evidence) - before);
    return s->status.code;
}

/* The first call includes first-touch page faults and similar costs, so the limit is generous. */
static double measure_call(struct session *s, const struct config *config, const struct instance *instance)
{
    struct call call = {0};
    struct call_result result = {0};
    struct child_answer answer = {.returned = 1};
    char text[RESULT_DETAIL_SIZE];
    call_arguments(s->options.problem, instance, &call);
    if (!buffers_fill(&s->buffers, config, instance, TIMED_CONTENT) ||
        !buffers_place(&s->buffers, 0, PLACE_LOW, NULL, &call) || !worker_map(&s->worker, &result))
        return 0;
    const double start = clock_seconds();
    const enum child_status status =
        child_call(s->worker.child, &call, worker_call_limit(&s->worker), &answer, text, sizeof text);
    const double seconds = clock_seconds() - start;
    if (status != CHILD_OK)
        worker_failed(&s->worker, status, text, &result);
    return status == CHILD_OK && answer.returned == 0 ? seconds : 0;
}

enum session_status session_measure(struct session *s, const struct config *config, double *seconds)
{
    struct instance instance;
    char why[RESULT_DETAIL_SIZE];
    *seconds = 0;
    if (config_instantiate(config, TIMED_CONTENT, &instance) != 0)
        status_failed(&s->status, "drawing the configuration", -1);
    else {
        process_pool_make_room(&s->worker, instance_total_bytes(s->options.problem, &instance));
        if (buffers_create(&s->buffers, &instance, 1, false, why, sizeof why) == 0)
            *seconds = measure_call(s, config, &instance);
    }
    session_unmap(s);
    instance_clear(&instance);
    status_end(&s->status);
    return s->status.code;
}
