/* Checks one configuration by three to five calls:
 *   1. draw 0, every tensor flush against its lower guard;
 *   2. draw 1 at the same addresses: catches a cached answer whose key is the pointer;
 *   3. draw 1 again, flush against the upper guards: the same values at other addresses;
 *   4. for some configurations, the same with one element changed: catches a cache
 *      whose key is a sample of the values;
 *   5. for a module on a GPU, the third call in another process, with its own allocations between guards
 *      (session_own.c).
 * Before each call outputs are poisoned and inputs restored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "gen/random/mix.h"
#include "mixture.h"
#include "session_internal.h"
#include "verify/system/interrupt.h"

static const struct {
    int content;
    enum placement placement;
    enum stage stage;
} calls[SESSION_CALLS] = {{0, PLACE_LOW, STAGE_FIRST},
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
    struct call_result call[SESSION_CALLS];
    struct output_result *outputs;  /* [SESSION_CALLS][judgements] */
    bool same[PROBLEM_MAX_TENSORS]; /* by judgement: its tensors equal those of the preceding call */
    bool replayed;                  /* the second output repeats the first one */
    bool judged_own;                /* the last call has produced an output */
};

/* Blends the other draw into the judge's inputs. Constructor arguments (weights) are not inputs of a call and
 * stay. */
static bool mix_values(struct session *s, struct checking *c)
{
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->now->slot[t];
        if (!c->mix->of->own_values[t] || session_is_state(s, t))
            continue;
        void *const memory = malloc(slot->bytes);
        int error = memory ? s->memory->to_host(memory, slot->own, 0, (int64_t)slot->bytes) : -1;
        if (!error) {
            mix_make(c->mix, t, memory);
            error = s->memory->from_host(slot->own, memory, slot->bytes);
        }
        free(memory);
        if (error)
            return session_failed(s, "mixing two contents", error);
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
            return session_failed(s, "drawing the configuration", -1);
        c->drawn = content;
    }
    c->content = content;
    ok = slots_fill(s, c->config, &c->instance, content) && (!c->mix || mix_values(s, c));
    s->seconds.fill += clock_seconds() - start;
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
    bool ok = slots_place(s, 0, placement_of(c->config, number), NULL, call);
    s->seconds.fill += clock_seconds() - start;
    session_arguments(s, &c->instance, call);
    if (ok && number == LAST_OWN)
        return own_call(s, call, result, &c->judged_own);
    if (!ok || !session_child(s, result))
        return false;

    start = clock_seconds();
    const enum child_status status =
        child_call(s->child, call, session_call_limit(s), &answer, text, sizeof text);
    s->seconds.run += clock_seconds() - start;
    if (status != CHILD_OK) {
        s->raised.may_live = true; /* check_once repeats failures that come after it */
        session_child_failed(s, status, text, result);
        s->raised.may_live = false;
        return s->status == SESSION_OK;
    }
    if (answer.returned != 0) {
        session_refused(s, &answer, result);
        return true;
    }
    start = clock_seconds();
    ok = slots_snapshot(s, call) && slots_inspect(s, call, result);
    s->seconds.judge += clock_seconds() - start;
    return ok;
}

static bool compare_outputs(struct session *s, struct checking *c)
{
    for (int k = 0; k < s->judgements; k++) {
        c->same[k] = true;
        for (int t = 0; t < s->tensors; t++) {
            int64_t first = -1;
            if (!(s->judgement[k].tensors >> t & 1))
                continue;
            const int error = s->memory->find_difference(s->now->slot[t].got, s->now->slot[t].before,
                                                         s->now->slot[t].bytes, &first);
            if (error)
                return session_failed(s, "comparing outputs", error);
            c->same[k] = c->same[k] && first < 0;
        }
    }
    return true;
}

static bool all_same(const struct session *s, const struct checking *c)
{
    for (int k = 0; k < s->judgements; k++)
        if (!c->same[k])
            return false;
    return true;
}

/* Detects a replayed answer: a wrong second output with exactly the bits of the correct first one. A single
 * number, or a constant output, proves nothing, since both draws may share it. */
static bool find_replay(struct session *s, struct checking *c, const struct judging *judging)
{
    for (int k = 0; k < s->judgements && c->call[0].outcome == OUTCOME_PASS && defence_is_on(DEFENCE_REPLAY);
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

static void find_instability(const struct session *s, struct checking *c)
{
    struct call_result *second = &c->call[1], *third = &c->call[2];
    if (c->replayed || !third->judged || !second->judged)
        return;
    for (int k = 0; k < s->judgements; k++) {
        if (c->same[k] || !is_unstable(&second->output[k], &third->output[k]))
            continue;
        snprintf(third->detail, sizeof third->detail,
                 "equal inputs, different results: %lld elements%s%s wrong in one "
                 "call and %lld in the next",
                 (long long)second->output[k].report.wrong, s->judgements > 1 ? " of " : "",
                 s->judgements > 1 ? s->options.problem->tensors[s->judgement[k].output].name : "",
                 (long long)third->output[k].report.wrong);
        third->outcome = OUTCOME_UNSTABLE;
        third->reason.cause = CAUSE_REPEAT;
        return;
    }
}

/* If a call is wrong, MPFR has confirmed it. */
static bool has_wrong_call(const struct session *s, const struct checking *c, int before)
{
    for (int i = 0; i < before; i++)
        for (int k = 0; k < s->judgements && c->call[i].judged; k++)
            if (c->call[i].output[k].report.wrong > 0)
                return true;
    return false;
}

static bool copy_outputs(struct session *s)
{
    int error = 0;
    for (int t = 0; t < s->tensors && !error; t++)
        if (s->now->slot[t].got && s->copies[t])
            error = s->memory->copy(s->copies[t], s->now->slot[t].got, s->now->slot[t].bytes);
    return !error || session_failed(s, "copying outputs", error);
}

/* Equal inputs and equal bits: copies the judgement. */
static void judge_alike(const struct session *s, const struct call_result *before, struct call_result *result)
{
    memcpy(result->output, before->output, (size_t)s->judgements * sizeof *result->output);
    result->outcome = before->outcome;
    result->reason.cause = before->reason.cause;
    result->judged = true;
    memcpy(result->detail, before->detail, sizeof result->detail);
}

/* Changes one element of the judge's inputs. */
static bool make_near(struct session *s, struct checking *c)
{
    struct pcg *random = pcg_new(c->config->seed, "near");
    const bool ok = random ? slots_choose_near(s, &c->instance, random, &c->near) &&
                                 (!c->near.near.present || slots_give(s, &c->near))
                           : session_failed(s, "choosing a near duplicate", -1);
    pcg_free(random);
    return ok;
}

/* The last two calls add nothing to a failure. */
static bool is_made(const struct session *s, const struct checking *c, int number)
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
    return number == LAST_OWN ? own_applies(s)
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

static bool judge_call(struct session *s, struct checking *c, int number, struct call_result *result)
{
    const struct judging judging = {.config = c->config,
                                    .instance = &c->instance,
                                    .call = number,
                                    .thorough = number == 0 && !c->once,
                                    .brief = s->options.brief || has_wrong_call(s, c, number)};
    if (!session_judge(s, &judging, result, &c->totals))
        return false;
    if (number == 1)
        return find_replay(s, c, &judging);
    if (number == 2)
        find_instability(s, c);
    else if (number == LAST_OWN)
        explain_own(result);
    else if (number == FIRST_NEAR && result->outcome == OUTCOME_WRONG && all_same(s, c) &&
             c->call[number - 1].outcome == OUTCOME_PASS)
        return replay_prove(s, &judging, NULL, &c->at, &c->near.near, "");
    return true;
}

static bool check_call(struct session *s, struct checking *c, int number)
{
    struct call_result *result = &c->call[number];
    result->output = c->outputs + number * s->judgements;
    result->reason.stage = calls[number].stage;
    const int content = c->mix                         ? c->mix->of->own_content
                        : defence_is_on(DEFENCE_FRESH) ? calls[number].content
                                                       : 0;
    if (number == LAST_OWN && c->near.near.present)
        c->content = -1; /* an element of it has changed */
    if (!load_content(s, c, content) || (number == FIRST_NEAR && !make_near(s, c)))
        return false;
    if (number == FIRST_NEAR && !c->near.near.present)
        return true;
    if (!run_call(s, c, number, result))
        return false;
    const struct judging judging = {.config = c->config, .instance = &c->instance, .call = number};
    if (!told_excuse(s, &judging, result))
        return false;
    if (result->outcome != OUTCOME_PASS || (number == LAST_OWN && !c->judged_own))
        return true;
    if (number > 0 && !compare_outputs(s, c))
        return false;
    if (number == 0 && s->copies && !copy_outputs(s))
        return false;
    const bool again = number == 2 || (number == LAST_OWN && !c->near.near.present);
    if (again && all_same(s, c) && c->call[number == 2 ? 1 : 2].judged) {
        judge_alike(s, &c->call[number == 2 ? 1 : 2], result);
        return true;
    }
    return judge_call(s, c, number, result);
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
    for (int number = 0; number < SESSION_CALLS; number++) {
        if (!is_made(s, c, number))
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

static enum session_status check_here(struct session *s, const struct config *config, const struct mix *mix,
                                      bool once, struct config_result *result)
{
    struct checking c = {.config = config, .mix = mix, .once = once, .content = -1, .totals = {result, -1}};
    c.drawn = mix ? mix->of->own_content : 0;
    if (s->status != SESSION_OK)
        return s->status;
    c.outputs = calloc(SESSION_CALLS * (size_t)s->judgements, sizeof *c.outputs);
    if (!c.outputs || config_instantiate(config, c.drawn, &c.instance) != 0) {
        session_failed(s, "drawing the configuration", -1);
    } else {
        result->flops = c.instance.flops;
        result->bytes = c.instance.bytes;
        if (slots_create(s, &c.instance, result->detail, sizeof result->detail) == 0) {
            s->free_bytes = (double)s->memory->available();
            run_calls(s, &c);
        } else
            session_skip(result, CAUSE_MEMORY);
        instance_clear(&c.instance);
    }
    s->keeps_model = s->keeps_model || (!mix && !once && result->outcome == OUTCOME_PASS &&
                                        twin_wants_model(s, config, result->bytes));
    session_unmap(s);
    past_add(s, config);
    session_give_back(s, result->bytes);
    session_settle(s, result);
    free(c.outputs);
    return s->status;
}

enum session_status session_check_first(struct session *s, const struct config *config,
                                        struct config_result *result)
{
    return check_here(s, config, NULL, true, result);
}

/* Checks once. A process that has raised an exception is kept, since a new one takes seconds to load and
 * compile. A later failure in it may be a consequence of the exception. So it is repeated in a new process,
 * unless it is an exception that a new process has raised, too. */
static enum session_status check_once(struct session *s, const struct config *config, const struct mix *mix,
                                      struct config_result *result)
{
    const struct config_result before = *result;
    const bool raised = s->raised.before;
    const int findings = s->findings;
    s->raised.now = false;
    enum session_status status = check_here(s, config, mix, false, result);
    if (status != SESSION_OK || !outcome_is_rejected(result->outcome) || raised_is_known(s, result))
        return status;
    if (raised) {
        session_restart(s);
        *result = before;
        s->raised.now = false;
        s->findings = findings;
        if (s->pattern)
            s->pattern->present = false;
        status = check_here(s, config, mix, false, result);
    }
    if (status == SESSION_OK)
        raised_keep(s, result);
    return status;
}

/* Checks beside other processes; if memory was short, repeats when no other process holds any. */
static enum session_status check(struct session *s, const struct config *config, const struct mix *mix,
                                 struct config_result *result)
{
    const struct config_result before = *result;
    if (!room_enter(s->options.room))
        return s->status;
    enum session_status status = check_once(s, config, mix, result);
    if (status == SESSION_OK && !mix && result->outcome == OUTCOME_PASS && !twin_check(s, config, result))
        status = s->status;
    room_leave(s->options.room);
    if (status != SESSION_OK || !session_was_short(s, result) || !room_enter_alone(s->options.room))
        return status;
    *result = before;
    status = check_once(s, config, mix, result);
    session_settle_alone(s, result);
    room_leave_alone(s->options.room);
    return status;
}

enum session_status session_check(struct session *s, const struct config *config,
                                  struct config_result *result)
{
    return check(s, config, NULL, result);
}

static enum session_status check_settled(struct session *s, const struct config *config,
                                         const struct mix *mix, struct config_result *result)
{
    const struct config_result before = *result;
    const enum session_status status = check(s, config, mix, result);
    if (status != SESSION_OK || result->reason.cause != CAUSE_KILLED || is_interrupted())
        return status;
    *result = before;
    return check(s, config, mix, result);
}

enum session_status session_check_settled(struct session *s, const struct config *config,
                                          struct config_result *result)
{
    return check_settled(s, config, NULL, result);
}

enum session_status session_check_mix(struct session *s, const struct mix *mix, struct config_result *result)
{
    return check_settled(s, &mix->of->own_config, mix, result);
}
