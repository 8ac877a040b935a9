/* Timing one configuration: cold calls on data of the published kind, until the median's interval is
 * tight or the budget is spent; the output of the last call is judged like any other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/measure/score.h"
#include "session_internal.h"

enum { LEAST_SAMPLES = 10, MOST_SAMPLES = 256, FIRST = 1, BATCH = 10, TIMED_CONTENT = 2 };
static const double tight = 0.01; /* half-width of the median's interval, relative */

struct series {
    double event_ms[MOST_SAMPLES], wall_ms[MOST_SAMPLES];
    int count;
    double spent; /* seconds */
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

static bool is_tight(const struct series *series)
{
    double sorted[MOST_SAMPLES];
    const struct interval median = median_of(series->event_ms, series->count, sorted);
    return series->count >= LEAST_SAMPLES && median.present &&
           median.high - median.low <= 2 * tight * median.value;
}

/* How many samples to take next, 0: no more. Slow kernels get FIRST and then as many as still fit; `most` is 1 where
 * tensors are to be put back after every call. */
static int next_batch(const struct series *series, double budget, int most)
{
    const int room = MOST_SAMPLES - series->count;
    const double left = (series->count < LEAST_SAMPLES ? 4 : 1) * budget - series->spent;
    if (series->count == 0)
        return FIRST;
    if (left <= 0 || is_tight(series))
        return 0;
    const double fitting = ceil(left * series->count / series->spent);
    most = room < most ? room : most;
    return fitting < most ? (int)fitting : most;
}

static enum child_status sample(struct session *s, const struct call *call, double budget,
                                struct series *series, int *returned, char *text, size_t text_size)
{
    struct reply *reply = malloc(sizeof *reply);
    enum child_status status = reply ? CHILD_OK : CHILD_SPAWN;
    const uint64_t flush = 2 * (uint64_t)s->options.device->l2_bytes;
    const int most = slots_have_inout(s) ? 1 : BATCH;
    const double start = clock_seconds();
    int batch;
    while (status == CHILD_OK && *returned == 0 && (batch = next_batch(series, budget, most)) > 0 &&
           slots_restore(s, call)) {
        status = child_time(s->child, call, batch, flush, s->options.timeout * batch, reply, text, text_size);
        if (status != CHILD_OK)
            break;
        memcpy(series->event_ms + series->count, reply->event_ms, reply->samples * sizeof(double));
        memcpy(series->wall_ms + series->count, reply->wall_ms, reply->samples * sizeof(double));
        series->count += (int)reply->samples;
        series->spent = clock_seconds() - start;
        *returned = reply->value;
    }
    free(reply);
    return status;
}

static struct clocks median_clocks(const struct series *series)
{
    double sorted[MOST_SAMPLES];
    return (struct clocks){median_of(series->event_ms, series->count, sorted).value,
                           median_of(series->wall_ms, series->count, sorted).value};
}

/* Warm up once and sample, while no other unseen does so on this device: session_time has taken the lease. */
static enum child_status take_times(struct session *s, const struct call *call, const char *line,
                                    double budget, struct series *series, int *returned, char *text,
                                    size_t text_size)
{
    s->disturbed = false;
    session_look(s);
    enum child_status status = child_call(s->child, call, s->options.timeout, returned, text, text_size);
    if (status == CHILD_OK && *returned == 0)
        status = sample(s, call, budget, series, returned, text, text_size);
    if (status == CHILD_OK && *returned == 0) {
        const struct clocks median = median_clocks(series);
        status = session_clocks(s, call, &median, line, text, text_size);
    }
    session_look(s);
    lease_give(s->options.lease);
    return status;
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

static void summarize(const struct session *s, const struct series *series, struct timing *timing)
{
    double sorted[MOST_SAMPLES];
    const struct interval median = median_of(series->event_ms, series->count, sorted);
    timing->present = true;
    timing->median_ms = median.value;
    timing->low_ms = median.low;
    timing->high_ms = median.high;
    timing->min_ms = sorted[0];
    timing->p95_ms = score_p95(sorted, series->count);
    timing->samples = series->count;
    timing->disturbed = s->disturbed;
    timing->method =
        s->options.device->backend == BACKEND_CUDA ? "CUDA events, cold L2" : "monotonic clock, cold caches";
    timing->unmet = is_tight(series)                ? NULL
                    : series->count == MOST_SAMPLES ? "median's interval above 1% after all samples"
                                                    : "median's interval above 1% when time was up";
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

/* Take times, and judge the last output. */
static void run_timed(struct session *s, const struct config *config, struct instance *instance,
                      double budget, struct config_result *result)
{
    struct series *series = calloc(1, sizeof *series);
    struct output_result *output = calloc((size_t)s->judgements, sizeof *output);
    struct call_result timed = {.output = output};
    struct config_result scratch = *result;
    struct totals totals = {&scratch, -1};
    struct call call = {0};
    char text[RESULT_DETAIL_SIZE], line[RESULT_LINE_SIZE];
    int returned = 0;

    session_arguments(s, instance, &call);
    config_format(config, line, sizeof line);
    if (!series || !output) {
        session_failed(s, "timing", -1);
    } else if (slots_fill(s, config, instance, TIMED_CONTENT) && slots_place(s, PLACE_LOW, &call) &&
               session_child(s, &timed)) {
        const enum child_status status =
            take_times(s, &call, line, budget, series, &returned, text, sizeof text);
        if (status != CHILD_OK) {
            session_child_failed(s, status, text, &timed);
        } else if (returned != 0) {
            timed.outcome = OUTCOME_REFUSED;
            timed.reason.cause = CAUSE_RETURN;
            snprintf(timed.detail, sizeof timed.detail, "returned %d", returned);
        } else if (series->count > 0 && slots_snapshot(s, &call)) {
            const struct judging judging = {.config = config, .instance = instance, .call = SESSION_CALLS};
            session_judge(s, &judging, &timed, &totals);
        }
    }
    if (s->status == SESSION_OK && timed.outcome == OUTCOME_PASS && series && series->count) {
        summarize(s, series, &result->timing);
        attain(s, instance->flops, instance->bytes, &result->timing);
    } else if (s->status == SESSION_OK && timed.outcome != OUTCOME_PASS) {
        result->outcome = timed.outcome;
        result->reason = timed.reason;
        result->reason.stage = STAGE_TIMED;
        result->worst = scratch.worst;
        result->timed_config = *config;
        memcpy(result->timed_line, line, sizeof line);
        snprintf(result->detail, sizeof result->detail, "in the timed calls: %.280s", timed.detail);
    }
    free(series);
    free(output);
}

static void time_inside(struct session *s, const struct config *timed, double budget_seconds,
                        struct config_result *result)
{
    struct instance instance;
    char why[RESULT_DETAIL_SIZE];
    if (config_instantiate(timed, TIMED_CONTENT, &instance) != 0)
        session_failed(s, "drawing the configuration", -1);
    else if (slots_create(s, &instance, why, sizeof why) == 0)
        run_timed(s, timed, &instance, budget_seconds, result);
    session_unmap(s);
    instance_clear(&instance);
    session_end(s); /* without room it has passed all the same; it only has no time */
}

/* The lease comes first: nobody who is inside waits for it, so that whoever wants to be alone need not, either. */
enum session_status session_time(struct session *s, const struct config *config, double budget_seconds,
                                 struct config_result *result)
{
    const double start = clock_seconds(), before = s->seconds.judge + s->seconds.witness;
    const double waited = lease_waited(s->options.lease);
    const struct config timed = timed_config(config);
    if (lease_take(s->options.lease) && room_enter(s->options.room)) {
        time_inside(s, &timed, budget_seconds, result);
        room_leave(s->options.room);
    }
    lease_give(s->options.lease);
    s->seconds.time += clock_seconds() - start - (s->seconds.judge + s->seconds.witness - before) -
                       (lease_waited(s->options.lease) - waited);
    return s->status;
}

/* The first call pays for first-touch page faults and the like, too: a limit that is generous. */
static double measure_call(struct session *s, const struct config *config, const struct instance *instance)
{
    struct call call = {0};
    struct call_result result = {0};
    char text[RESULT_DETAIL_SIZE];
    int returned = 1;
    session_arguments(s, instance, &call);
    if (!slots_fill(s, config, instance, TIMED_CONTENT) || !slots_place(s, PLACE_LOW, &call) ||
        !session_child(s, &result))
        return 0;
    const double start = clock_seconds();
    const enum child_status status =
        child_call(s->child, &call, s->options.timeout, &returned, text, sizeof text);
    const double seconds = clock_seconds() - start;
    if (status != CHILD_OK)
        session_child_failed(s, status, text, &result);
    return status == CHILD_OK && returned == 0 ? seconds : 0;
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
