/* Timing: cold calls on data of the published kind, of several configurations in turns at random, until each median's
 * interval is tight or the budget is spent; outputs chosen in secret are judged like any others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/measure/score.h"
#include "series.h"
#include "verify/system/defence.h"

enum { LEAST_SAMPLES = 10, MOST_SAMPLES = 256, TIMED_CONTENT = 2 };
enum { LEAST_EXCHANGES = 5 };     /* the quickest of which says what the others' load does not */
static const double tight = 0.01; /* half-width of the median's interval, relative */
/* A configuration that is being timed. */
struct timed {
    struct timing_job *job;
    struct config config; /* with inputs of the published kind */
    struct series series;
    double event_ms[MOST_SAMPLES], wall_ms[MOST_SAMPLES], tail_ms[MOST_SAMPLES], rest_ms[MOST_SAMPLES];
    int count;
    double spent; /* seconds, with what was done for its calls */
    bool open, over;
    struct interval median;
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct interval median_of(const double *value, int count, double *sorted)
{
    memcpy(sorted, value, (size_t)count * sizeof *value);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return score_median(sorted, count);
}

static bool is_tight(struct timed *timed)
{
    double sorted[MOST_SAMPLES];
    timed->median = median_of(timed->event_ms, timed->count, sorted);
    return timed->count >= LEAST_SAMPLES && timed->median.present &&
           timed->median.high - timed->median.low <= 2 * tight * timed->median.value;
}

/* Slow kernels get one sample, and then as many as fit. */
static bool has_enough(struct timed *timed)
{
    const double budget = (timed->count < LEAST_SAMPLES ? 4 : 1) * timed->job->budget_seconds;
    if (timed->count == 0)
        return false;
    return timed->count == MOST_SAMPLES || timed->spent >= budget ||
           (timed->count % LEAST_SAMPLES == 0 && is_tight(timed));
}

/* One call. */
static void sample(struct session *s, struct timed *timed)
{
    struct series_call call;
    const double start = clock_seconds();
    if (!series_call(&timed->series, s, &call)) {
        timed->over = true;
        return;
    }
    if (call.outside)
        timed->count = 0;
    if (call.counts) {
        timed->event_ms[timed->count] = call.clocks.event_ms;
        timed->wall_ms[timed->count] = call.clocks.wall_ms;
        timed->rest_ms[timed->count] = call.rest_ms;
        timed->tail_ms[timed->count++] = call.tail_ms;
        timed->spent += clock_seconds() - start;
    }
    timed->over = has_enough(timed);
}

/* Which is next, nobody can tell from those before. */
static void sample_all(struct session *s, struct timed *timed, int count)
{
    struct pcg *random = pcg_new(timed[0].config.seed, "turns");
    for (int left = count; random && left > 0 && s->status == SESSION_OK;) {
        struct timed *next = &timed[pcg_below(random, (uint64_t)count)];
        if (next->over)
            continue;
        sample(s, next);
        left -= next->over;
    }
    if (!random)
        session_failed(s, "timing", -1);
    pcg_free(random);
}

/* Do two clocks agree on it? */
static void compare_clocks(struct session *s, struct timed *timed)
{
    double sorted[MOST_SAMPLES];
    char line[RESULT_LINE_SIZE];
    if (timed->series.ended.outcome != OUTCOME_PASS || timed->count == 0)
        return;
    const struct clocks median = {median_of(timed->event_ms, timed->count, sorted).value,
                                  median_of(timed->wall_ms, timed->count, sorted).value};
    config_format(&timed->config, line, sizeof line);
    s->disturbed = s->disturbed || timed->job->result->timing.disturbed;
    session_clocks(s, &timed->series, &median, line);
}

/* By how much one clock may run past another, in milliseconds and as a part of the time. */
struct slack {
    double ms, part;
};

/* What an exchange takes at most beside the call, in milliseconds. On the host little more than messages, flushing not
 * counted; on a GPU emptying L2, a launch that is hidden and two waits; where the candidate is Python, views of the tensors, a
 * longer launch, a look at what it returned and a copy. */
static double usual_rest(const struct session *s)
{
    const bool on_host = s->options.device->backend == BACKEND_HOST;
    return s->options.python ? (on_host ? 3 : 12) : on_host ? 0.3 : 2;
}

/* Is the least of the samples' excess over `event` more than that? */
static bool exceeds(const double *excess, int count, double event, struct slack slack)
{
    double sorted[MOST_SAMPLES];
    median_of(excess, count, sorted);
    return sorted[0] > slack.ms + slack.part * event;
}

/* The candidate shares a process with the clocks that the runner reads. The judge's own runs from asking to the answer; in
 * the quickest of several exchanges little more than flushing and the call happens, on a loaded machine, too. Where far more
 * did, again and again, the runner's clock has been tampered with.
 *
 * On a GPU the exchange also empties caches, waits for the device and hides what the host takes to launch, so that only
 * milliseconds tell; what the events say is held against the host's clock there, which starts when the stream does and ends
 * after the driver has taken back what the stream freed. Both only where nobody else keeps the device busy: beside others
 * even the quickest call waits for its turn. */
static void add_up(struct session *s, const struct timed *timed)
{
    static const struct slack events = {0.5, 2};
    const bool on_host = s->options.device->backend == BACKEND_HOST;
    const struct slack exchange = {usual_rest(s), 0.5};
    double sorted[MOST_SAMPLES], gap[MOST_SAMPLES];
    if (timed->count < (on_host ? LEAST_EXCHANGES : LEAST_SAMPLES) || !defence_is_on(DEFENCE_CLOCKS) ||
        (!on_host && s->disturbed))
        return;
    const double event = median_of(timed->event_ms, timed->count, sorted).value;
    for (int i = 0; i < timed->count; i++)
        gap[i] = timed->wall_ms[i] - timed->event_ms[i] - timed->tail_ms[i];
    if (exceeds(timed->rest_ms, timed->count, event, exchange) ||
        (!on_host && exceeds(gap, timed->count, event, events)))
        s->disbelieved = true;
}

/* While no other unseen does so on this device: session_time_several has taken the lease. */
static void take_times(struct session *s, struct timed *timed, int count)
{
    s->disturbed = false;
    session_look(s);
    sample_all(s, timed, count);
    session_look(s);
    for (int i = 0; i < count && s->status == SESSION_OK; i++) {
        const bool shared = s->disturbed;
        compare_clocks(s, &timed[i]);
        add_up(s, &timed[i]);
        timed[i].job->result->timing.disturbed = s->disturbed;
        s->disturbed = shared;
    }
    lease_give(s->options.lease);
}

static void attain(const struct session *s, double flops, double bytes, struct timing *timing)
{
    const struct device *device = s->options.device;
    const double gbps = device_gbps(device);
    const double tflops = device_tflops(device, s->options.problem);
    const double memory = gbps > 0 ? bytes / gbps / 1e6 : 0;
    const double compute = tflops > 0 ? flops / tflops / 1e9 : 0;
    timing->attainable_ms = device->launch_ms;
    timing->bound = BOUND_LAUNCH;
    if (memory > timing->attainable_ms) {
        timing->attainable_ms = memory;
        timing->bound = BOUND_MEMORY;
    }
    if (compute > timing->attainable_ms) {
        timing->attainable_ms = compute;
        timing->bound = BOUND_COMPUTE;
    }
    timing->fraction = timing->median_ms > 0 ? timing->attainable_ms / timing->median_ms : 0;
}

/* Two calls of the driver lie between the stop event and an idle device. What takes longer, in the median, is work that
 * goes on after the event, and part of the time. */
static const double least_tail_ms = 0.02;

static bool add_tails(struct timed *timed)
{
    double sorted[MOST_SAMPLES];
    if (timed->count == 0 || !defence_is_on(DEFENCE_CLOCKS) ||
        median_of(timed->tail_ms, timed->count, sorted).value <= least_tail_ms)
        return false;
    for (int i = 0; i < timed->count; i++)
        timed->event_ms[i] += timed->tail_ms[i];
    return true;
}

/* What nobody in the candidate's process can shorten: whoever lies pays for the exchange, too. */
static void add_rests(struct timed *timed)
{
    for (int i = 0; i < timed->count; i++)
        timed->event_ms[i] = timed->wall_ms[i] + timed->rest_ms[i];
}

static const char *method_of(const struct session *s, bool has_tail)
{
    if (s->disbelieved)
        return "the judge's clock, cold caches: the process's own does not add up with it";
    if (s->options.device->backend != BACKEND_CUDA)
        return "monotonic clock, cold caches";
    if (s->outside)
        return "host's clock until the device is idle, cold L2: it works outside its stream";
    return has_tail ? "CUDA events, cold L2, and what goes on after them" : "CUDA events, cold L2";
}

static void summarize(const struct session *s, struct timed *timed)
{
    double sorted[MOST_SAMPLES];
    struct timing *timing = &timed->job->result->timing;
    const bool has_tail = add_tails(timed);
    if (s->disbelieved) {
        add_rests(timed);
        timing->disturbed = true;
    }
    const struct interval median = median_of(timed->event_ms, timed->count, sorted);
    timing->present = true;
    timing->median_ms = median.value;
    timing->low_ms = median.low;
    timing->high_ms = median.high;
    timing->min_ms = sorted[0];
    timing->p95_ms = score_p95(sorted, timed->count);
    timing->samples = timed->count;
    timing->method = method_of(s, has_tail);
    timing->unmet = is_tight(timed)                ? NULL
                    : timed->count == MOST_SAMPLES ? "median's interval above 1% after all samples"
                                                   : "median's interval above 1% when time was up";
    attain(s, timed->series.instance.flops, timed->series.instance.bytes, timing);
}

/* The configuration with inputs of the published kind: all-integer or zero data runs faster. */
static struct config timed_config(const struct config *config)
{
    struct config timed = *config;
    const int input = problem_input_axis(config->problem);
    if (input >= 0)
        timed.value[input] = 0;
    return timed;
}

/* What the calls of a series that do not pass say of the configuration, whose checks passed. */
static void report_ended(const struct config *config, const struct series *series, const struct worst *worst,
                         struct config_result *result)
{
    const struct call_result *ended = &series->ended;
    result->outcome = ended->outcome;
    result->reason = ended->reason;
    result->reason.stage = STAGE_TIMED;
    result->worst = *worst;
    result->timed_config = *config;
    config_format(config, result->timed_line, sizeof result->timed_line);
    snprintf(result->detail, sizeof result->detail, "%s%.290s",
             series->calls ? "" : "in the timed calls: ", ended->detail);
}

/* Judge what was kept of it, and hand in. */
static void finish(struct session *s, struct timed *timed)
{
    struct config_result *scratch = calloc(1, sizeof *scratch), *result = timed->job->result;
    struct totals totals = {scratch, -1};
    if (!scratch)
        session_failed(s, "timing", -1);
    if (s->status == SESSION_OK && timed->series.ended.outcome == OUTCOME_PASS &&
        defence_is_on(DEFENCE_JUDGED))
        series_judge(&timed->series, s, &totals);
    if (s->status == SESSION_OK && timed->series.ended.outcome == OUTCOME_PASS && timed->count)
        summarize(s, timed);
    else if (s->status == SESSION_OK && timed->series.ended.outcome != OUTCOME_PASS &&
             timed->series.ended.reason.cause != CAUSE_MEMORY)
        report_ended(&timed->config, &timed->series, &scratch->worst, result);
    free(scratch);
}

/* Set up as many as there is memory for, one at least. */
static int open_all(struct session *s, struct timing_job *job, int count, struct timed *timed)
{
    int opened = 0;
    while (opened < count && opened < SESSION_POOL && s->status == SESSION_OK) {
        struct timed *next = &timed[opened];
        next->job = &job[opened];
        next->config = timed_config(job[opened].config);
        next->series.where = "a timed call";
        s->now = &s->setup[opened];
        next->open = series_open(&next->series, s, &next->config, TIMED_CONTENT) == 0;
        if (!next->open && opened > 0)
            series_close(&next->series, s);
        if (!next->open)
            break;
        opened++;
    }
    return opened;
}

static void time_inside(struct session *s, struct timing_job *job, int count, int *taken)
{
    struct timed *timed = calloc(SESSION_POOL, sizeof *timed);
    const int opened = timed ? open_all(s, job, count, timed) : 0;
    *taken = opened > 0 ? opened : 1; /* one without memory has passed all the same; it only has no time */
    if (!timed)
        session_failed(s, "timing", -1);
    if (opened > 0)
        take_times(s, timed, opened);
    for (int i = 0; i < opened; i++) {
        finish(s, &timed[i]);
        series_close(&timed[i].series, s);
    }
    if (timed && opened == 0)
        series_close(&timed[0].series, s);
    s->now = s->setup;
    free(timed);
    session_end(s);
}

/* The lease comes first: nobody who is inside waits for it, so that whoever wants to be alone need not, either. */
enum session_status session_time_several(struct session *s, struct timing_job *job, int count, int *taken)
{
    const double start = clock_seconds(), before = s->seconds.judge + s->seconds.witness;
    const double waited = lease_waited(s->options.lease);
    *taken = count;
    if (lease_take(s->options.lease) && room_enter(s->options.room)) {
        time_inside(s, job, count, taken);
        room_leave(s->options.room);
    }
    lease_give(s->options.lease);
    s->seconds.time += clock_seconds() - start - (s->seconds.judge + s->seconds.witness - before) -
                       (lease_waited(s->options.lease) - waited);
    return s->status;
}

enum session_status session_time(struct session *s, const struct config *config, double budget_seconds,
                                 struct config_result *result)
{
    struct timing_job job = {config, budget_seconds, result};
    int taken;
    return session_time_several(s, &job, 1, &taken);
}

/* --- late calls --- */

/* Of a cheap configuration; of a dear one a tenth of them; and of a kernel that takes its time what fits: a right one is
 * right in all of them. */
static const double cheap_bytes = 64e6, cheap_seconds = 0.01, late_ceiling = 5;
enum { LATE_CALLS = 520, LATE_FEW = 60, LATE_SPREAD = 10 };

/* The 50th call or one soon after, and the 500th. */
static void run_late(struct session *s, struct series *series, struct config_result *result)
{
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct totals totals = {scratch, -1};
    struct series_call call;
    const struct problem *problem = s->options.problem;
    const double seconds =
        s->options.device->backend == BACKEND_CUDA ? 0 : series->instance.flops * problem->host_ns * 1e-9;
    const bool cheap = series->instance.bytes <= cheap_bytes && seconds <= cheap_seconds;
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
    if (s->status == SESSION_OK && series->ended.outcome != OUTCOME_PASS &&
        series->ended.reason.cause != CAUSE_MEMORY)
        report_ended(series->config, series, &scratch->worst, result);
    free(scratch);
}

enum session_status session_late(struct session *s, const struct config *config, struct config_result *result)
{
    const struct config timed = timed_config(config);
    struct series series = {.where = "a late call"};
    if (!room_enter(s->options.room))
        return s->status;
    s->now = s->setup;
    session_restart(s); /* so that calls are counted from here on */
    if (series_open(&series, s, &timed, TIMED_CONTENT) == 0)
        run_late(s, &series, result);
    series_close(&series, s);
    session_end(s);
    room_leave(s->options.room);
    return s->status;
}

/* The first call pays for first-touch page faults and the like, too: a limit that is generous. */
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
