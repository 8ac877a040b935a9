/* Checks one configuration by three to five calls:
 *   1. draw 0, every tensor flush against its lower guard;
 *   2. draw 1 at the same addresses: catches a cached answer whose key is the pointer;
 *   3. draw 1 again, flush against the upper guards: the same values at other addresses;
 *   4. for some configurations, the same with one element changed: catches a cache
 *      whose key is a sample of the values;
 *   5. for a module on a GPU, the third call in another process, with its own allocations between guards
 *      (guarded_alloc.c).
 * Before each call outputs are poisoned and inputs restored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "gen/random/mix.h"
#include "mixture.h"
#include "expected_values.h"
#include "pair.h"
#include "proof.h"
#include "session_internal.h"

enum { CALLS = 5 };

static const struct {
    int content;
    enum placement placement;
    enum stage stage;
} calls[CALLS] = {{0, PLACE_LOW, STAGE_FIRST},
                  {1, PLACE_LOW, STAGE_FRESH},
                  {1, PLACE_HIGH, STAGE_MOVED},
                  {1, PLACE_HIGH, STAGE_NEAR},
                  {1, PLACE_HIGH, STAGE_OWN}};

/* A near duplicate costs a full judgement, like a new draw, so only one configuration in four has one. */
enum { FIRST_NEAR = 3, LAST_OWN = 4, NEAR_ONE_IN = 4 };

/* State during the calls of one configuration. */
struct checking {
    const struct config *config;
    struct instance instance;
    const struct mix *mix; /* one call with blended values; NULL: values as drawn */
    bool once;             /* make the first call only */
    int drawn;             /* number of the draw of the instance */
    int content;           /* number of the draw in the judge's inputs; -1: none yet */
    struct content near;   /* draw of the fourth call */
    struct call at;        /* the current call */
    struct totals totals;
    struct call_result call[CALLS];
    struct output_result *outputs;  /* [CALLS][judgements] */
    bool same[PROBLEM_MAX_TENSORS]; /* by judgement: its tensors equal those of the preceding call */
    bool replayed;                  /* the second output repeats the first one */
    bool judged_own;                /* the last call has produced an output */
};

/* Blends the other draw into the judge's inputs. Constructor arguments (weights) are not inputs of a call and
 * stay. */
static bool mix_values(struct buffers *b, struct checking *c)
{
    for (int t = 0; t < b->tensors; t++) {
        const struct slot *slot = &b->now->slot[t];
        if (!c->mix->of->own_values[t] || buffers_are_state(b, t))
            continue;
        void *const memory = malloc(slot->bytes);
        int error = memory ? buffers_memory(b)->to_host(memory, slot->own, 0, (int64_t)slot->bytes) : -1;
        if (!error) {
            mix_make(c->mix, t, memory);
            error = buffers_memory(b)->from_host(slot->own, memory, slot->bytes);
        }
        free(memory);
        if (error)
            return status_failed(b->status, "mixing two contents", error);
    }
    c->instance.data = mix_data(c->mix);
    return true;
}

static bool load_content(struct session *s, struct checking *c, int content)
{
    const double start = clock_seconds();
    bool ok = true;
    if (c->content == content)
        return true;
    c->content = -1;
    if (c->drawn != content) {
        instance_clear(&c->instance);
        if (config_instantiate(c->config, content, &c->instance) != 0)
            return status_failed(&s->status, "drawing the configuration", -1);
        c->drawn = content;
    }
    c->content = content;
    ok = buffers_fill(&s->buffers, c->config, &c->instance, content) &&
         (!c->mix || mix_values(&s->buffers, c));
    s->evidence.seconds.fill += clock_seconds() - start;
    return ok;
}

/* In some configurations the later calls use different alignments for different tensors. */
static enum placement placement_of(const struct config *config, int number)
{
    enum { MIXED_ONE_IN = 4 };
    /* differs from the salts of near duplicates and siblings */
    static const uint64_t salt = (uint64_t)3 << 32;
    const enum placement usual = calls[number].placement;
    if (!defence_is_on(DEFENCE_MOVED))
        return PLACE_LOW;
    return usual == PLACE_HIGH && (mix64(config->seed + salt) >> 32) % MIXED_ONE_IN == 0 ? PLACE_MIXED
                                                                                         : usual;
}

/* Calls the candidate. If it returned 0 and touched nothing that it must not touch, result->outcome is PASS,
 * and snapshots were taken. */
static bool run_call(struct session *s, struct checking *c, int number, struct call_result *result)
{
    struct call *call = &c->at;
    struct child_answer answer;
    char text[RESULT_DETAIL_SIZE];
    double start = clock_seconds();
    bool ok = buffers_place(&s->buffers, 0, placement_of(c->config, number), NULL, call);
    /* No time is taken. The first call holds the stream until the candidate returns, which shows work that
     * another stream does too early. Later calls show work that it does too late. */
    call->mode = number == 0 ? CALL_EVENTS : CALL_WALL;
    call->flush_bytes = 0;
    s->evidence.seconds.fill += clock_seconds() - start;
    call_arguments(s->options.problem, &c->instance, call);
    if (ok && number == LAST_OWN)
        return guarded_call(&s->worker, call, result, &c->judged_own);
    if (!ok || !worker_map(&s->worker, result))
        return false;

    start = clock_seconds();
    const enum child_status status =
        child_call(s->worker.child, call, worker_call_limit(&s->worker), &answer, text, sizeof text);
    s->evidence.seconds.run += clock_seconds() - start;
    if (status != CHILD_OK) {
        s->worker.exception.may_live = true; /* check_once repeats failures that come after it */
        worker_failed(&s->worker, status, text, result);
        s->worker.exception.may_live = false;
        return s->status.code == SESSION_OK;
    }
    if (answer.returned != 0) {
        worker_refused(&s->worker, &answer, result);
        return true;
    }
    start = clock_seconds();
    ok = buffers_snapshot(&s->buffers, call) && buffers_inspect(&s->buffers, call, result);
    s->evidence.seconds.judge += clock_seconds() - start;
    return ok;
}

static bool compare_outputs(struct buffers *b, const struct judge *judge, struct checking *c)
{
    unsigned differ;
    const double start = clock_seconds();
    if (!buffers_compare(b, &differ))
        return false;
    judge->seconds->judge += clock_seconds() - start;
    for (int k = 0; k < judge->judgements; k++)
        c->same[k] = (judge->judgement[k].tensors & differ) == 0;
    return true;
}

static bool all_same(const struct judge *judge, const struct checking *c)
{
    for (int k = 0; k < judge->judgements; k++)
        if (!c->same[k])
            return false;
    return true;
}

/* Detects a replayed answer: a wrong second output with exactly the bits of the correct first one. A single
 * number, or a constant output, proves nothing, since both draws may share it. */
static bool find_replay(struct session *s, struct checking *c, const struct judging *judging)
{
    for (int k = 0;
         k < s->judge.judgements && c->call[0].outcome == OUTCOME_PASS && defence_is_on(DEFENCE_REPLAY);
         k++) {
        const struct output_result *second = &c->call[1].output[k];
        const struct judge_report *report = &second->report;
        if (!c->same[k] || second->outcome != OUTCOME_WRONG || report->elements < 32 ||
            report->wrong * 2 < report->elements)
            continue;
        return replay_prove_fresh(s, judging, &c->at, k, report, &c->replayed);
    }
    return true;
}

/* Equal inputs with different output bits: honest if both are within the allowed error, unstable
 * otherwise. */
static bool is_unstable(const struct output_result *second, const struct output_result *third)
{
    if (second->outcome == OUTCOME_PASS && third->outcome == OUTCOME_PASS)
        return false;
    return second->outcome != third->outcome || second->report.wrong != third->report.wrong ||
           second->report.worst.index != third->report.worst.index;
}

static void find_instability(const struct judge *judge, struct checking *c)
{
    struct call_result *second = &c->call[1], *third = &c->call[2];
    if (c->replayed || !third->judged || !second->judged)
        return;
    for (int k = 0; k < judge->judgements; k++) {
        if (c->same[k] || !is_unstable(&second->output[k], &third->output[k]))
            continue;
        snprintf(third->detail, sizeof third->detail,
                 "equal inputs, different results: %lld elements%s%s wrong in one "
                 "call and %lld in the next",
                 (long long)second->output[k].report.wrong, judge->judgements > 1 ? " of " : "",
                 judge->judgements > 1 ? judge->options.problem->tensors[judge->judgement[k].output].name
                                       : "",
                 (long long)third->output[k].report.wrong);
        third->outcome = OUTCOME_UNSTABLE;
        third->reason.cause = CAUSE_REPEAT;
        return;
    }
}

/* If a call is wrong, MPFR has confirmed it. */
static bool has_wrong_call(const struct judge *judge, const struct checking *c, int before)
{
    for (int i = 0; i < before; i++)
        for (int k = 0; k < judge->judgements && c->call[i].judged; k++)
            if (c->call[i].output[k].report.wrong > 0)
                return true;
    return false;
}

/* Equal inputs and equal bits: copies the judgement. */
static void judge_alike(const struct judge *judge, const struct call_result *before,
                        struct call_result *result)
{
    memcpy(result->output, before->output, (size_t)judge->judgements * sizeof *result->output);
    result->outcome = before->outcome;
    result->reason.cause = before->reason.cause;
    result->judged = true;
    memcpy(result->detail, before->detail, sizeof result->detail);
}

/* Changes one element of the judge's inputs. */
static bool make_near(struct buffers *b, struct checking *c)
{
    struct pcg *random = pcg_new(c->config->seed, "near");
    const bool ok = random ? buffers_choose_near(b, &c->instance, random, &c->near) &&
                                 (!c->near.near.present || buffers_give(b, &c->near))
                           : status_failed(b->status, "choosing a near duplicate", -1);
    pcg_free(random);
    return ok;
}

/* The last two calls add nothing to a failure. */
static bool is_made(const struct worker *w, const struct checking *c, int number)
{
    if (c->once)
        return number == 0;
    if (number < FIRST_NEAR)
        return number == 0 || !c->mix;
    for (int i = 0; i < number; i++)
        if (c->call[i].outcome != OUTCOME_PASS)
            return false;
    if (c->mix)
        return false;
    return number == LAST_OWN ? guarded_applies(w)
                              : defence_is_on(DEFENCE_NEAR) && mix64(c->config->seed) % NEAR_ONE_IN == 0;
}

/* The fourth call's output was right, and only this one is not. */
static void explain_own(struct call_result *result)
{
    char text[241];
    if (result->outcome == OUTCOME_PASS)
        return;
    snprintf(text, sizeof text, "%.240s", result->detail);
    snprintf(result->detail, sizeof result->detail,
             "with its own allocations poisoned and between guards: %s", text);
}

static bool judge_numbered(struct session *s, struct checking *c, int number, struct call_result *result)
{
    struct judging judging = session_judging(s, c->config, &c->instance, number);
    judging.thorough = number == 0 && !c->once;
    judging.brief = s->options.brief || has_wrong_call(&s->judge, c, number);
    struct content drawn = number == FIRST_NEAR ? c->near : (struct content){0};
    drawn.base = c->content;
    judging.drawn = c->mix ? NULL : &drawn;
    if (!judge_call(&s->judge, &judging, result, &c->totals))
        return false;
    if (number == 1)
        return find_replay(s, c, &judging);
    if (number == 2)
        find_instability(&s->judge, c);
    else if (number == LAST_OWN)
        explain_own(result);
    else if (number == FIRST_NEAR && result->outcome == OUTCOME_WRONG && all_same(&s->judge, c) &&
             c->call[number - 1].outcome == OUTCOME_PASS)
        return replay_prove(s, &judging, NULL, &c->at, &c->near.near, "");
    return true;
}

static bool check_call(struct session *s, struct checking *c, int number)
{
    struct call_result *result = &c->call[number];
    result->output = c->outputs + number * s->judge.judgements;
    result->reason.stage = calls[number].stage;
    const int content = c->mix                         ? c->mix->of->own_content
                        : defence_is_on(DEFENCE_FRESH) ? calls[number].content
                                                       : 0;
    if (number == LAST_OWN && c->near.near.present)
        c->content = -1; /* an element of it has changed */
    if (!load_content(s, c, content) || (number == FIRST_NEAR && !make_near(&s->buffers, c)))
        return false;
    if (number == FIRST_NEAR && !c->near.near.present)
        return true;
    if (!run_call(s, c, number, result))
        return false;
    const struct judging judging = session_judging(s, c->config, &c->instance, number);
    if (!expected_excuse(&s->judge, &judging, result))
        return false;
    if (result->outcome != OUTCOME_PASS || (number == LAST_OWN && !c->judged_own))
        return true;
    if (number > 0 && !compare_outputs(&s->buffers, &s->judge, c))
        return false;
    if (number == 0 && s->buffers.copies && !buffers_copy_outputs(&s->buffers))
        return false;
    const bool again = number == 2 || (number == LAST_OWN && !c->near.near.present);
    if (again && all_same(&s->judge, c) && c->call[number == 2 ? 1 : 2].judged) {
        judge_alike(&s->judge, &c->call[number == 2 ? 1 : 2], result);
        return true;
    }
    return judge_numbered(s, c, number, result);
}

/* The call that decides the configuration: instability first, since it explains the rest; else the first call
 * that did not pass. */
static const struct call_result *decisive(const struct checking *c, int made)
{
    for (int i = 0; i < made; i++)
        if (c->call[i].outcome == OUTCOME_UNSTABLE)
            return &c->call[i];
    for (int i = 0; i < made; i++)
        if (c->call[i].outcome != OUTCOME_PASS)
            return &c->call[i];
    return &c->call[made < FIRST_NEAR ? made - 1 : FIRST_NEAR - 1];
}

static void run_calls(struct session *s, struct checking *c)
{
    int made = 0;
    for (int number = 0; number < CALLS; number++) {
        if (!is_made(&s->worker, c, number))
            continue;
        const bool ok = check_call(s, c, number);
        made = number + 1;
        if (!ok || !outcome_traits(c->call[number].outcome)->goes_on)
            break;
    }
    const struct call_result *speaks = decisive(c, made);
    c->totals.result->outcome = speaks->outcome;
    c->totals.result->reason = speaks->reason;
    snprintf(c->totals.result->detail, RESULT_DETAIL_SIZE, "%s", speaks->detail);
}

enum session_status check_calls(struct session *s, const struct config *config, const struct mix *mix,
                                bool once, struct config_result *result)
{
    struct checking c = {.config = config, .mix = mix, .once = once, .content = -1, .totals = {result, -1}};
    c.drawn = mix ? mix->of->own_content : 0;
    if (s->status.code != SESSION_OK)
        return s->status.code;
    double start = clock_seconds();
    c.outputs = calloc(CALLS * (size_t)s->judge.judgements, sizeof *c.outputs);
    if (!c.outputs || config_instantiate(config, c.drawn, &c.instance) != 0) {
        status_failed(&s->status, "drawing the configuration", -1);
    } else {
        result->flops = c.instance.flops;
        result->bytes = c.instance.bytes;
        process_pool_make_room(&s->worker, instance_total_bytes(s->options.problem, &c.instance));
        s->evidence.seconds.fill += clock_seconds() - start;
        start = clock_seconds();
        const bool created =
            buffers_create(&s->buffers, &c.instance, 1, false, result->detail, sizeof result->detail) == 0;
        s->evidence.seconds.map += clock_seconds() - start;
        if (created) {
            s->worker.shortage.free_bytes = (double)s->buffers.memory->available();
            run_calls(s, &c);
        } else
            session_skip(result, CAUSE_MEMORY);
        instance_clear(&c.instance);
    }
    s->worker.keeps_model = s->worker.keeps_model || (!mix && !once && result->outcome == OUTCOME_PASS &&
                                                      sibling_wants_model(&s->worker, config, result->bytes));
    session_unmap(s);
    past_add(&s->worker, config);
    memory_give_back(&s->worker, result->bytes);
    session_settle(s, result);
    free(c.outputs);
    return s->status.code;
}
