#include "proof.h"
#include "timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/score/score.h"
#include "verify/util/defence.h"

static const double tight = 0.01; /* relative half-width of the median's interval */

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

/* The mean of n processes' medians, with its t interval. */
static struct interval mean_of_processes(const struct timed *timed, int n)
{
    double sorted[SAMPLES_ROOM], middle[PROCESSES_MOST];
    for (int p = 0; p < n; p++) {
        const int end = p < timed->processes ? timed->begin[p + 1] : timed->count;
        middle[p] = median_of(timed->event_ms + timed->begin[p], end - timed->begin[p], sorted).value;
    }
    return score_mean(middle, n);
}

/* Number of processes with a complete set of samples: the last one may have been cut off. */
int timed_processes(const struct timed *timed)
{
    const int last = timed->count - timed->begin[timed->processes];
    return timed->processes + (timed->processes == 0 || last >= OF_A_PROCESS);
}

struct interval timed_center(const struct timed *timed)
{
    double sorted[SAMPLES_ROOM];
    const int n = timed_processes(timed);
    return n > 1 ? mean_of_processes(timed, n) : median_of(timed->event_ms, timed->count, sorted);
}

/* A process's random placement changes a time between two events by up to 0.3 us, and the memory bandwidth by
 * a few percent. */
static const double short_ms = 0.5;

bool timed_is_short(const struct session *s, struct timed *timed)
{
    double sorted[SAMPLES_ROOM];
    return s->options.device->backend == BACKEND_CUDA && !s->worker.outside &&
           timed->count >= LEAST_SAMPLES && median_of(timed->event_ms, timed->count, sorted).value < short_ms;
}

void timed_enter(struct timed *timed)
{
    timed->begin[++timed->processes] = timed->count;
    timed->entering = FIRST_CALLS;
}

bool timed_is_tight(struct timed *timed)
{
    timed->median = timed_center(timed);
    return timed->count >= LEAST_SAMPLES && timed->median.present &&
           timed->median.high - timed->median.low <= 2 * tight * timed->median.value;
}

/* Makes one call. */
bool timed_sample(struct session *s, struct timed *timed)
{
    struct series_call call;
    const double start = clock_seconds();
    if (!series_call(&timed->series, s, &call)) {
        timed->over = true;
        return false;
    }
    if (timed->series.prints) {
        timed->series.prints->calls = timed->series.calls;
        timed->series.prints->seconds += timed->processes == 0 ? clock_seconds() - start : 0;
    }
    if (call.outside)
        timed->count = timed->processes = 0;
    if (timed->entering > 0) {
        timed->entering--;
    } else if (call.counts) {
        timed->event_ms[timed->count] = call.clocks.event_ms;
        timed->wall_ms[timed->count] = call.clocks.wall_ms;
        timed->rest_ms[timed->count] = call.rest_ms;
        timed->tail_ms[timed->count++] = call.tail_ms;
        timed->spent += clock_seconds() - start;
    }
    return true;
}

/* Do both clocks agree on the samples? */
static void compare_clocks(struct session *s, struct timed *timed)
{
    double sorted[SAMPLES_ROOM];
    char line[RESULT_LINE_SIZE];
    if (timed->series.ended.outcome != OUTCOME_PASS || timed->count == 0)
        return;
    const struct clocks median = {median_of(timed->event_ms, timed->count, sorted).value,
                                  median_of(timed->wall_ms, timed->count, sorted).value};
    config_format(&timed->config, line, sizeof line);
    s->evidence.disturbed = s->evidence.disturbed || timed->job->result->timing.disturbed;
    clock_prove(s, &timed->series, &median, line);
}

/* Allowed excess of one clock over another: milliseconds, and a fraction of the time. */
struct slack {
    double ms, part;
};

/* Largest cost of an exchange besides the call, in milliseconds. On the host it is little more than messages,
 * without flushing. On a GPU: flushing the L2, a hidden launch and two waits. For a candidate in Python also:
 * views of the tensors, a longer launch, a check of the result and a copy. */
static double usual_rest(const struct session *s)
{
    const bool on_host = s->options.device->backend == BACKEND_HOST;
    return s->options.python ? (on_host ? 3 : 12) : on_host ? 0.3 : 2;
}

/* Is even the smallest excess of the samples over `event` larger than that? */
static bool exceeds(const double *excess, int count, double event, struct slack slack)
{
    double sorted[SAMPLES_ROOM];
    median_of(excess, count, sorted);
    return sorted[0] > slack.ms + slack.part * event;
}

enum { EXCHANGES = 64 };

/* An eighth of a control's exchanges are as fast as this; 0 if there are few. */
static double usual_of(const double *rest, int count)
{
    enum { FEW = 8, PART = 8 };
    double sorted[EXCHANGES];
    if (count < FEW)
        return 0;
    median_of(rest, count, sorted);
    return sorted[count / PART];
}

/* Decides by further calls, which are no samples, interleaved with exchanges of a process without a
 * candidate. A core shared with other processes slows every one of a few exchanges. Flushing tensors that
 * another core has written takes longer than the judge measured. But a candidate that has shortened so many
 * times that their median is short cannot make an exchange fast. An honest exchange is eventually as fast as
 * an eighth of the control's. */
static bool is_never_quick(struct session *s, struct timed *timed, double event, struct slack slack)
{
    static const double beside = 0.1;       /* ms, in addition to a control's exchange */
    static const double short_flush = 0.15; /* ms of flushing that the usual limit covers */
    double rest[EXCHANGES], excess = HUGE_VAL;
    struct control control = {.worker = &s->worker};
    struct series_call call;
    bool quick = false;
    int count = 0;
    while (count < EXCHANGES && !quick && series_call(&timed->series, s, &call)) {
        if (!call.counts)
            continue;
        if (!control_exchange(&control, &timed->series, &rest[count]))
            rest[count] = 0;
        count++;
        excess = fmin(excess, call.clocks.event_ms + call.rest_ms - event);
        /* candidate threads that occupy the cores can hide at most the time of a second flush of large
         * tensors */
        const double most = slack.ms + fmax(0, timed->series.flush_ms - short_flush);
        const double usual = fmin(usual_of(rest, count) + beside, most);
        const struct slack allowed = {fmax(slack.ms, usual), slack.part};
        quick = !exceeds(&excess, 1, event, allowed);
    }
    control_close(&control);
    return count == EXCHANGES && !quick; /* the reason why the series ended matters more */
}

/* The candidate shares a process with the clocks that the runner reads. The judge's own clock runs from
 * request to answer. In the fastest of several exchanges, little more than flushing and the call happens,
 * even on a loaded machine. If much more happens, again and again, the runner's clock has been tampered with.
 *
 * On a GPU the exchange also flushes caches, waits for the device and hides the host's launch time, so only
 * milliseconds are significant. There the events are compared with the host's clock. It starts with the
 * stream and ends after the driver has taken back the stream's freed memory. Both only if nobody else uses
 * the device: beside others even the fastest call waits. */
static void add_up(struct session *s, struct timed *timed)
{
    static const struct slack events = {0.5, 2};
    const bool on_host = s->options.device->backend == BACKEND_HOST;
    const struct slack exchange = {usual_rest(s), 0.5};
    double sorted[SAMPLES_ROOM], gap[SAMPLES_ROOM], excess[SAMPLES_ROOM];
    if (timed->count < (on_host ? LEAST_EXCHANGES : LEAST_SAMPLES) || !defence_is_on(DEFENCE_CLOCKS) ||
        s->evidence.disbelieved || (!on_host && s->evidence.disturbed))
        return;
    const double event = median_of(timed->event_ms, timed->count, sorted).value;
    for (int i = 0; i < timed->count; i++) {
        gap[i] = timed->wall_ms[i] - timed->event_ms[i] - timed->tail_ms[i];
        /* on the host, relative to the reported median, so that an occasional honest report does not help */
        excess[i] = timed->rest_ms[i] + (on_host ? timed->event_ms[i] - event : 0);
    }
    if (exceeds(excess, timed->count, event, exchange))
        s->evidence.disbelieved = !on_host || is_never_quick(s, timed, event, exchange);
    else if (!on_host && exceeds(gap, timed->count, event, events))
        s->evidence.disbelieved = true;
}

void timed_check(struct session *s, struct timed *timed)
{
    compare_clocks(s, timed);
    add_up(s, timed);
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

/* Two driver calls lie between the stop event and an idle device. A larger median is work that continues
 * after the event, and is part of the time. */
static const double least_tail_ms = 0.02;

bool timed_has_tail(const struct timed *timed)
{
    double sorted[SAMPLES_ROOM];
    return timed->count > 0 && defence_is_on(DEFENCE_CLOCKS) &&
           median_of(timed->tail_ms, timed->count, sorted).value > least_tail_ms;
}

void timed_add_tails(struct timed *timed)
{
    for (int i = 0; i < timed->count; i++)
        timed->event_ms[i] += timed->tail_ms[i];
}

void timed_add_rests(struct timed *timed)
{
    for (int i = 0; i < timed->count; i++)
        timed->event_ms[i] = timed->wall_ms[i] + timed->rest_ms[i];
}

const char *timed_method(const struct session *s, bool has_tail)
{
    if (s->evidence.disbelieved)
        return "the judge's clock, cold caches: the process's own clock disagrees";
    if (s->options.device->backend != BACKEND_CUDA)
        return "monotonic clock, cold caches";
    if (s->worker.outside)
        return "host's clock until the device is idle, cold L2: it works outside its stream";
    return has_tail ? "CUDA events and the work after them, cold L2" : "CUDA events, cold L2";
}

void timed_summarize(const struct session *s, struct timed *timed)
{
    double sorted[SAMPLES_ROOM];
    struct timing *timing = &timed->job->result->timing;
    const bool has_tail = timed_has_tail(timed);
    if (has_tail)
        timed_add_tails(timed);
    if (s->evidence.disbelieved) {
        timed_add_rests(timed);
        timing->disturbed = true;
    }
    const struct interval median = timed_center(timed);
    median_of(timed->event_ms, timed->count, sorted);
    timing->present = true;
    timing->median_ms = median.value;
    timing->low_ms = median.low;
    timing->high_ms = median.high;
    timing->min_ms = sorted[0];
    timing->p95_ms = score_p95(sorted, timed->count);
    timing->samples = timed->count;
    timing->method = timed_method(s, has_tail);
    timing->processes = timed_processes(timed);
    timing->disturbed = timing->disturbed || timed->slow;
    timing->unmet = timed->slow ? "unstable clock: the multiprocessors ran below 75% of their highest"
                    : timed_is_tight(timed)        ? NULL
                    : timed->count == MOST_SAMPLES ? "median's interval above 1% after all samples"
                                                   : "median's interval above 1% when time was up";
    attain(s, timed->series.instance.flops, timed->series.instance.bytes, timing);
}

/* The configuration with inputs of the published class, since all-integer or zero data runs faster. */
struct config timed_config(const struct config *config)
{
    struct config timed = *config;
    const int input = problem_input_axis(config->problem);
    if (input >= 0)
        timed.value[input] = 0;
    return timed;
}

void series_report_ended(const struct series *series, const struct worst *worst, struct config_result *result)
{
    const struct call_result *ended = &series->ended;
    result->outcome = ended->outcome;
    result->reason = ended->reason;
    result->reason.stage = STAGE_TIMED;
    result->worst = *worst;
    result->timed_config = *series->config;
    config_format(series->config, result->timed_line, sizeof result->timed_line);
    snprintf(result->detail, sizeof result->detail, "%s%.290s",
             series->calls ? "" : "in the timed calls: ", ended->detail);
}

bool timed_judge(struct session *s, struct timed *timed)
{
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct totals totals = {scratch, -1};
    const struct call_result *ended = &timed->series.ended;
    if (!scratch)
        status_failed(&s->status, "timing", -1);
    if (s->status.code == SESSION_OK && ended->outcome == OUTCOME_PASS && defence_is_on(DEFENCE_JUDGED))
        series_judge(&timed->series, s, &totals);
    if (s->status.code == SESSION_OK && ended->outcome != OUTCOME_PASS && ended->reason.cause != CAUSE_MEMORY)
        series_report_ended(&timed->series, &scratch->worst, timed->job->result);
    free(scratch);
    return s->status.code == SESSION_OK && ended->outcome == OUTCOME_PASS;
}
