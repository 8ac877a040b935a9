#include "proof.h"
#include "series.h"
#include "expected_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/util/defence.h"
#include "verify/util/flush.h"
#include "verify/torch/task.h"

/* One call in four is on a near duplicate; one in twelve checks for work while its stream is held. */
enum { NEAR_ONE_IN = 4, ASK_ONE_IN = 12 };
/* Number of calls after which the base is drawn again. It is small if rotation renews little and drawing is
 * as fast as a copy, larger if the host draws (which includes a GPU's tables). */
enum { DRAW_TURNED = 16, DRAW_HOST = 8, DRAW_MADE = 32 /* another process draws */ };
static const double given_quick =
    1 << 20; /* bytes that the host draws and sends to a GPU within a call's time */

static bool load(struct series *series, struct session *s, int base)
{
    if (series->drawn == base)
        return true;
    series->drawn = -1;
    if (series->instantiated != base) {
        series->instantiated = -1;
        instance_clear(&series->instance);
        if (config_instantiate(series->config, base, &series->instance) != 0)
            return status_failed(&s->status, "drawing the configuration", -1);
        series->instantiated = base;
    }
    if (!buffers_fill(&s->buffers, series->config, &series->instance, base))
        return false;
    series->drawn = base;
    series->setup->constant =
        true; /* weights are prepared once before the first call, since a model keeps them */
    return true;
}

/* Uses several buffers per tensor if they take a small part of the device's memory. */
static int rings_for(const struct session *s, const struct instance *instance)
{
    enum { COPIES = BUFFERS_RING + 4, PART = 8 };
    const double bytes = COPIES * instance_total_bytes(s->options.problem, instance);
    return defence_is_on(DEFENCE_RING) && bytes <= (double)s->options.device->memory_bytes / PART
               ? BUFFERS_RING
               : 1;
}

static int take_memory(struct session *s, const struct instance *instance, bool plain)
{
    char why[RESULT_DETAIL_SIZE];
    process_pool_make_room(&s->worker, instance_total_bytes(s->options.problem, instance));
    if (!plain) {
        if (buffers_create(&s->buffers, instance, rings_for(s, instance), true, why, sizeof why) == 0)
            return 0;
        buffers_destroy(&s->buffers);
    }
    if (buffers_create(&s->buffers, instance, 1, false, why, sizeof why) == 0)
        return 0;
    buffers_destroy(&s->buffers);
    return -1;
}

int series_open(struct series *series, struct session *s, const struct config *config, int base)
{
    series->config = config;
    series->setup = s->buffers.now;
    series->drawn = -1;
    series->content.base = base;
    series->random = pcg_new(config->seed, "series");
    if (!series->random || config_instantiate(config, base, &series->instance) != 0) {
        status_failed(&s->status, "drawing the configuration", -1);
        return -1;
    }
    series->instantiated = base;
    series->kind = pcg_below(series->random, 2) ? KEEP_NEAR : KEEP_FRESH;
    if (series->prints) {
        series->choice = pcg_new(config->seed, "fingerprints");
        if (!series->choice) {
            status_failed(&s->status, "drawing the configuration", -1);
            return -1;
        }
        fingerprints_begin(series->prints, series->choice, base);
    }
    return take_memory(s, &series->instance, series->plain);
}

void series_close(struct series *series, struct session *s)
{
    s->buffers.now = series->setup;
    session_unmap(s);
    instance_clear(&series->instance);
    pcg_free(series->random);
    pcg_free(series->choice);
}

static int calls_of_a_drawing(const struct series *series, const struct session *s)
{
    const struct imported *const task = s->options.problem->task;
    if (task && imported_computes(task))
        return DRAW_MADE;
    if (!series->setup->slot[0].given)
        return 1;
    if (content_turns(s->options.problem, &series->instance))
        return DRAW_TURNED;
    const bool quick = s->options.device->backend == BACKEND_CUDA &&
                       content_given_bytes(s->options.problem, &series->instance) <= given_quick;
    return quick ? 1 : DRAW_HOST;
}

static void turn_content(struct series *series, const struct session *s)
{
    struct content *content = &series->content;
    content_turn(s->options.problem, &series->instance, series->random, content);
    for (int t = 0; t < s->buffers.tensors; t++)
        if (buffers_are_state(&s->buffers, t))
            content->turn[t] = 0;
}

/* Late calls keep their buffers for dozens of calls, as in a loop that reuses them. Both judged late calls
 * (session_time.c) come at least 40 calls after the start of such a stretch. */
static bool stays(const struct series *series)
{
    enum { STRETCH = 75, BEFORE = 8 };
    return series->wanted && series->calls % STRETCH >= BEFORE;
}

/* One judged late call is on a near duplicate, after dozens of calls in the same place; the call before it is
 * not. */
static bool is_near_next(const struct series *series, bool after_near)
{
    enum { NEVER, MAYBE, SURELY } near = series->calls == 0 || after_near ? NEVER : MAYBE;
    if (series->wanted && series->calls + 2 == series->wanted[KEEP_NEAR])
        near = NEVER;
    if (series->wanted && series->calls + 1 == series->wanted[KEEP_NEAR])
        near = SURELY;
    return near != NEVER && defence_is_on(DEFENCE_NEAR) &&
           (pcg_below(series->random, NEAR_ONE_IN) == 0 || near == SURELY);
}

/* Chooses the next call's draw and buffers. A near duplicate reuses its original's buffers in half of the
 * cases. */
static bool renew(struct series *series, struct session *s)
{
    struct content *content = &series->content;
    const bool after_near = content->near.present;
    bool ok = true;
    content->near.present = false;
    if (is_near_next(series, after_near)) {
        ok = load(series, s, content->base) &&
             buffers_choose_near(&s->buffers, &series->instance, series->random, content);
        if (!ok || (content->near.present && (pcg_below(series->random, 2) == 0 || stays(series))))
            return ok;
    } else {
        if (!defence_is_on(DEFENCE_FRESH))
            return load(series, s, content->base);
        if (series->calls > 0 && series->calls % calls_of_a_drawing(series, s) == 0)
            content->base++;
        ok = load(series, s, content->base);
        if (ok && series->setup->slot[0].given)
            turn_content(series, s);
    }
    if (stays(series))
        return ok;
    series->ring = (int)pcg_below(series->random, (uint64_t)series->setup->rings);
    series->placement = (enum placement[]){PLACE_LOW, PLACE_HIGH, PLACE_MIXED}[pcg_below(series->random, 3)];
    return ok;
}

static bool is_to_be_kept(struct series *series, int which)
{
    const int now = series->content.near.present ? KEEP_NEAR : KEEP_FRESH;
    struct kept *kept = &series->kept[which];
    if (!series->wanted && (which != now || (which != series->kind && !series->every)))
        return false;
    kept->candidates++;
    if (series->every)
        return true;
    if (series->wanted)
        return series->calls == series->wanted[which];
    return pcg_below(series->random, (uint64_t)kept->candidates) == 0;
}

/* Decides only after the call whether to keep its output, so that nothing before the call reveals it. */
static bool keep(struct series *series, struct session *s, const struct call *call)
{
    const bool near = series->content.near.present;
    for (int which = 0; which < KEEP_COUNT; which++) {
        struct kept *kept = &series->kept[which];
        if (!is_to_be_kept(series, which))
            continue;
        *kept = (struct kept){.number = series->calls,
                              .candidates = kept->candidates,
                              .content = series->content,
                              .call = *call};
        if (!buffers_keep(&s->buffers, call, which == KEEP_NEAR) ||
            !buffers_give(&s->buffers, &series->content) ||
            !buffers_inspect(&s->buffers, call, &kept->inspected))
            return false;
        if (near && !s->buffers.now->slot[kept->content.near.tensor].given)
            series->drawn = -1; /* the judge's copy contains the changed element, too */
    }
    return true;
}

/* Measures the time to flush the caches by the judge's own clock; the runner flushes before it reads its
 * clock. Takes the fastest of several, since it is subtracted from the fastest of many exchanges. Otherwise a
 * flush that waited for a core would hide an excess. */
static void measure_flush(struct series *series, const struct session *s)
{
    enum { OFTEN = 3 };
    const double start = clock_seconds();
    if (series->calls >= OFTEN || s->options.device->backend != BACKEND_HOST)
        return;
    for (int t = 0; t < s->buffers.tensors; t++) {
        const struct region *region = &s->buffers.now->slot[t].region[series->ring];
        flush_memory(region->base, region->mapped);
        /* A module's result is copied to the output: one tensor is read and one is written. */
        for (int i = 0; i < 2 && s->options.python && s->buffers.now->slot[t].got; i++)
            flush_memory(region->base, region->mapped);
    }
    const double ms = 1e3 * (clock_seconds() - start);
    series->flush_ms = series->calls == 0 ? ms : fmin(series->flush_ms, ms);
}

/* A candidate known to work outside its stream is timed by the wall clock. */
static enum call_mode mode_of(const struct series *series, const struct session *s)
{
    if (s->options.device->backend != BACKEND_CUDA || !defence_is_on(DEFENCE_CLOCKS))
        return CALL_EVENTS;
    /* drawn in any case, so that two compared candidates get the same inputs */
    const bool asks = pcg_below(series->random, ASK_ONE_IN) == 0;
    if (s->worker.outside)
        return CALL_WALL;
    return series->calls == 0 || !s->worker.child || asks ? CALL_ASK : CALL_EVENTS;
}

/* Records the answer; a refusal ends the series. */
static bool note_answer(struct series *series, struct session *s, const struct call *call,
                        const struct child_answer *answer, struct series_call *out)
{
    series->calls++;
    if (answer->returned != 0) {
        worker_refused(&s->worker, answer, &series->ended);
        return false;
    }
    s->worker.outside = s->worker.outside || answer->outside;
    out->outside = answer->outside;
    out->counts = series->calls > 1 && !series->content.near.present && call->mode != CALL_ASK;
    out->clocks = (struct clocks){answer->event_ms, answer->wall_ms};
    out->tail_ms = answer->tail_ms;
    out->rest_ms = fmax(0, answer->judge_ms - answer->wall_ms - series->flush_ms);
    return true;
}

/* Takes the fingerprint after the call, for the same reason as keep. */
static bool take_fingerprint(struct series *series, struct session *s, const struct call *call,
                             const struct series_call *out)
{
    const struct fingerprint print = {
        .number = series->calls, .content = series->content, .placement = series->placement};
    return !series->prints || !out->counts ||
           fingerprints_take(series->prints, &s->buffers, series->choice, &print, call);
}

/* A call that the candidate refused or died of proves nothing where the task's own model does not run on its
 * contents, either. */
static void excuse(struct series *series, struct session *s)
{
    if (s->status.code != SESSION_OK || !buffers_give(&s->buffers, &series->content))
        return;
    const struct judging judging = session_judging(s, series->config, &series->instance, series->calls);
    expected_excuse(&s->judge, &judging, &series->ended);
}

bool series_call(struct series *series, struct session *s, struct series_call *out)
{
    struct call call = {0};
    struct child_answer answer;
    char text[RESULT_DETAIL_SIZE];
    s->buffers.now = series->setup;
    if (!renew(series, s) ||
        !buffers_place(&s->buffers, series->ring, series->placement, &series->content, &call))
        return false;
    call_arguments(s->options.problem, &series->instance, &call);
    call.mode = mode_of(series, s);
    measure_flush(series, s);
    if (!worker_map(&s->worker, &series->ended))
        return false;
    const enum child_status status =
        child_call(s->worker.child, &call, worker_call_limit(&s->worker), &answer, text, sizeof text);
    if (status != CHILD_OK) {
        worker_failed(&s->worker, status, text, &series->ended);
        excuse(series, s);
        return false;
    }
    if (!note_answer(series, s, &call, &answer, out)) {
        excuse(series, s);
        return false;
    }
    return keep(series, s, &call) && take_fingerprint(series, s, &call, out);
}

/* Arguments of a constructor come from the series' first draw. */
bool series_place(struct series *series, struct session *s, const struct content *content,
                  enum placement placement, struct call *call)
{
    s->buffers.now = series->setup;
    if ((!s->buffers.now->constant && !load(series, s, series->content.base)) ||
        !load(series, s, content->base) || !buffers_place(&s->buffers, 0, placement, content, call))
        return false;
    call_arguments(s->options.problem, &series->instance, call);
    return true;
}

/* `got` is the kept output. */
static bool judge_kept(struct series *series, struct session *s, int which, struct totals *totals)
{
    const struct kept *kept = &series->kept[which];
    struct call_result *ended = &series->ended;
    char text[RESULT_DETAIL_SIZE], element[160], where[80];
    if (kept->inspected.outcome != OUTCOME_PASS) {
        *ended = kept->inspected;
        return true;
    }
    if (!load(series, s, kept->content.base) || !buffers_give(&s->buffers, &kept->content))
        return false;
    if (!s->buffers.now->slot[0].given)
        series->drawn = -1;
    const struct judging judging = session_judging(s, series->config, &series->instance, kept->number);
    if (!judge_call(&s->judge, &judging, ended, totals))
        return false;
    if (ended->outcome == OUTCOME_PASS)
        return true;
    snprintf(where, sizeof where, ", in %s (number %d)", series->where, kept->number);
    snprintf(text, sizeof text, "%s", ended->detail);
    snprintf(ended->detail, sizeof ended->detail, "in %s (number %d): %.250s", series->where, kept->number,
             text);
    if (!kept->content.near.present)
        return true;
    content_describe_near(s->options.problem, &series->instance, &kept->content.near, element,
                          sizeof element);
    snprintf(ended->detail, sizeof ended->detail,
             "in %s (number %d), with the inputs of the call before except for %.90s: %.110s", series->where,
             kept->number, element, text);
    return ended->outcome != OUTCOME_WRONG ||
           replay_prove(s, &judging, &kept->content, &kept->call, &kept->content.near, where);
}

bool series_judge(struct series *series, struct session *s, struct totals *totals)
{
    struct output_result *const output = calloc((size_t)s->judge.judgements, sizeof *output);
    bool ok = output ? true : status_failed(&s->status, "judging a series", -1);
    s->buffers.now = series->setup;
    for (int which = 0; which < KEEP_COUNT && ok && series->ended.outcome == OUTCOME_PASS; which++) {
        if (series->kept[which].number == 0)
            continue;
        if (which == KEEP_NEAR)
            buffers_swap(&s->buffers);
        memset(output, 0, (size_t)s->judge.judgements * sizeof *output);
        series->ended.output = output;
        ok = judge_kept(series, s, which, totals);
    }
    series->ended.output = NULL;
    free(output);
    return ok;
}
