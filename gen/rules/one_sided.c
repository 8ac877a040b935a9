/* Finds a rule that is certain on one side, if no two-sided rule holds, and confirms it by fresh runs. */
#include "rules_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFIT = 6, FEWER_SURE = 4, SIDES = 4, LEAST_FAILING = 3, TRIES = 4, ENOUGH_SURE = 32 };
static const double LEAST_SPLIT = 0.02, LEAST_GAIN = 8, LEAST_EVIDENCE = 5, LOOKING_SHARE = 0.5;

struct one_sided {
    struct hypotheses *hypotheses; /* rules of the kind that describes the trials best */
    struct hypotheses *other;      /* partial rules */
    struct hypothesis rule;
    enum rule_kind kind;
    double gain;
    bool known;
    int since[MOST_TERMS]; /* first trial since each term was adopted, whatever its threshold */
    struct confirmation confirmed;
    int turn, tests;
    struct challenges challenges;
};

/* Returns whether one predicate holds wherever another about the same quantity does. */
static bool is_implied(const struct evidence *evidence, const struct predicate *predicate,
                       const struct predicate *by)
{
    const struct quantity *quantity = quantity_of(evidence, predicate->quantity);
    bool implied = predicate->quantity == by->quantity;
    for (int t = 0; t < evidence->trials && implied; t++) {
        const int64_t value = trial_values(evidence, t)[predicate->quantity];
        implied = predicate_holds(predicate, quantity, value) || !predicate_holds(by, quantity, value);
    }
    return implied;
}

/* Returns whether the terms of the partial rule imply all those of the necessary one, and it has more terms,
 * or shares one. Then "every failure has A" with a condition inside it says more than "always when A and
 * B". */
static bool is_within(const struct evidence *evidence, const struct hypotheses *necessary,
                      const struct hypotheses *partial)
{
    const struct hypothesis *outer = &necessary->item[0], *inner = &partial->item[0];
    bool same = false;
    if (necessary->count == 0 || inner->count < outer->count)
        return false;
    for (int i = 0; i < outer->count; i++) {
        bool found = false;
        for (int j = 0; j < inner->count; j++) {
            found = found || is_implied(evidence, &outer->term[i], &inner->term[j]);
            same = same || predicate_alike(&outer->term[i], &inner->term[j]);
        }
        if (!found)
            return false;
    }
    return same || inner->count > outer->count;
}

/* Counts the trial. Returns whether it contradicts the certain side of the rule. */
static bool count(const struct evidence *evidence, struct one_sided *state, int trial)
{
    const bool inside = confirmation_add(&state->confirmed, evidence, &state->rule, trial);
    const bool fails = bit_of(evidence->fails, trial);
    return state->kind == RULE_NECESSARY ? fails && !inside : !fails && inside;
}

static int since_all(const struct one_sided *state)
{
    int since = 0;
    for (int at = 0; at < state->rule.count; at++)
        since = state->since[at] > since ? state->since[at] : since;
    return since;
}

static void count_since(const struct evidence *evidence, struct one_sided *state)
{
    state->confirmed = (struct confirmation){0};
    for (int t = since_all(state); t < evidence->trials; t++)
        count(evidence, state, t);
}

/* Adopts the rule. Runs since a term was adopted continue to count for it, even if its threshold has moved or
 * other terms have changed. */
static void take_rule(const struct evidence *evidence, struct one_sided *state, const struct hypothesis *rule,
                      bool same_kind)
{
    int since[MOST_TERMS];
    for (int i = 0; i < rule->count; i++) {
        since[i] = evidence->trials;
        for (int j = 0; same_kind && j < state->rule.count; j++)
            if (predicate_alike(&rule->term[i], &state->rule.term[j]))
                since[i] = state->since[j];
    }
    memcpy(state->since, since, sizeof since);
    state->rule = *rule;
}

static const struct hypothesis *sure_of_failures(const struct one_sided *state)
{
    return state->other->count > 0 ? &state->other->item[0] : NULL;
}

static int refit(struct inquiry *inquiry, struct one_sided *state)
{
    enum rule_kind kind = RULE_NECESSARY;
    struct hypothesis inner;
    double gain, other, inside;
    if (search_one_sided(&inquiry->evidence, RULE_NECESSARY, state->hypotheses, &gain) ||
        search_one_sided(&inquiry->evidence, RULE_PARTIAL, state->other, &other))
        return -1;
    if (state->hypotheses->count > 0 &&
        search_inner(&inquiry->evidence, &state->hypotheses->item[0], &inner, &inside))
        gain += inside;
    if (other > gain && !is_within(&inquiry->evidence, state->hypotheses, state->other)) {
        *state->hypotheses = *state->other;
        kind = RULE_PARTIAL;
        gain = other;
    }
    const bool alike = state->known && kind == state->kind && state->hypotheses->count > 0 &&
                       hypothesis_alike(&state->hypotheses->item[0], &state->rule);
    const bool same_kind = state->known && kind == state->kind;
    state->known = state->hypotheses->count > 0;
    state->kind = kind;
    state->gain = gain;
    if (state->known) {
        take_rule(&inquiry->evidence, state, &state->hypotheses->item[0], same_kind);
        if (!alike)
            challenges_recount(&inquiry->evidence, &state->rule, sure_of_failures(state), &state->challenges);
        count_since(&inquiry->evidence, state);
    }
    return 0;
}

static bool challenge(struct inquiry *inquiry, struct one_sided *state, struct config *config)
{
    return challenge_next(inquiry, &state->rule, sure_of_failures(state), &state->challenges, config);
}

static bool pick(struct inquiry *inquiry, struct one_sided *state, bool confirming, struct config *config)
{
    if (!confirming && query_divide(inquiry, state->hypotheses, LEAST_SPLIT, config))
        return true;
    const bool sure = state->tests++ % SIDES != 0; /* mostly the certain side */
    const bool inside = sure == (state->kind == RULE_PARTIAL);
    if (!inside && sure && state->tests % 2 && challenge(inquiry, state, config))
        return true;
    for (int i = 0; i < 2 * TRIES; i++) {
        const int turn = state->turn++;
        if ((turn % 2 == 0) == inside && query_confirm(inquiry, state->hypotheses, turn, config))
            return true;
    }
    return false;
}

static bool is_sure(const struct one_sided *state)
{
    return (state->kind == RULE_NECESSARY ? state->confirmed.outside : state->confirmed.inside) >=
               ENOUGH_SURE &&
           state->confirmed.inside >= ENOUGH_SURE / 2 && state->confirmed.outside >= ENOUGH_SURE / 2;
}

/* Looks for a rule while half of the runs last, then confirms it. The rule is refitted after a run that
 * contradicts it. */
static int look(struct inquiry *inquiry, struct one_sided *state)
{
    const int first = inquiry->runs;
    if (refit(inquiry, state))
        return -1;
    for (int fitted = inquiry->runs; state->known && inquiry_may_run(inquiry) && !is_sure(state);) {
        const bool confirming = inquiry->runs - first >= LOOKING_SHARE * (inquiry->most_runs - first);
        struct config config;
        if (!pick(inquiry, state, confirming, &config))
            break;
        const int result = inquiry_ask(inquiry, &config);
        challenge_learn(&inquiry->evidence, &state->challenges, result);
        if (result < 0)
            continue;
        if (count(&inquiry->evidence, state, inquiry->evidence.trials - 1) ||
            (!confirming && inquiry->runs - fitted >= REFIT)) {
            if (refit(inquiry, state))
                return -1;
            fitted = inquiry->runs;
        }
    }
    return 0;
}

/* Picks a run that the rule still lacks. It supports or challenges a term of a necessary condition, or
 * tests the certain side. */
static bool pick_support(struct inquiry *inquiry, struct one_sided *state, struct config *config)
{
    const bool necessary = state->kind == RULE_NECESSARY;
    if (!state->known)
        return false;
    if (necessary && query_weak_term(inquiry, &state->rule, state->hypotheses, config))
        return true;
    if (necessary && challenge(inquiry, state, config))
        return true;
    return (necessary ? state->confirmed.outside : state->confirmed.inside) < ENOUGH_SURE / 2 &&
           pick(inquiry, state, true, config);
}

/* Makes runs of this kind beyond those allowed. The rule is refitted after a run that contradicts it. */
static int support(struct inquiry *inquiry, struct one_sided *state)
{
    struct config config;
    const int allowed = inquiry->most_runs, before = inquiry->runs;
    int status = 0;
    inquiry->most_runs = before + inquiry->extra_runs;
    while (status == 0 && inquiry_may_run(inquiry) && pick_support(inquiry, state, &config)) {
        const int result = inquiry_ask(inquiry, &config);
        challenge_learn(&inquiry->evidence, &state->challenges, result);
        if (result >= 0 && count(&inquiry->evidence, state, inquiry->evidence.trials - 1))
            status = refit(inquiry, state);
    }
    inquiry->extra_runs -= inquiry->runs - before;
    inquiry->most_runs = allowed + inquiry->runs - before;
    return status;
}

/* --- the verdict --- */

static void drop_term(const struct evidence *evidence, struct one_sided *state, int at)
{
    hypothesis_remove_term(&state->rule, at);
    for (int i = at; i < state->rule.count; i++)
        state->since[i] = state->since[i + 1];
    challenges_recount(evidence, &state->rule, sure_of_failures(state), &state->challenges);
}

/* Returns a term of a necessary condition that is doubtful, or -1. Too few runs support it, it had too few
 * challenges, or its threshold says only that larger configurations are likelier to fail. */
static int doubtful_term(const struct evidence *evidence, const struct one_sided *state)
{
    bool inside;
    const int weakest = weakest_term(evidence, &state->rule, &inside);
    for (int at = 0; weakest < 0 && at < state->rule.count; at++)
        if (!challenge_suffices(&state->challenges, at) || !threshold_is_sharp(evidence, &state->rule, at))
            return at;
    return weakest;
}

/* Drops doubtful terms. A necessary condition remains necessary without a term; a partial one does not remain
 * partial. Returns false if nothing is left. */
static bool drop_terms(const struct evidence *evidence, struct one_sided *state)
{
    if (state->kind != RULE_NECESSARY)
        return drop_weak_terms(evidence, &state->rule) == 0;
    for (int at; state->rule.count > 0 && (at = doubtful_term(evidence, state)) >= 0;)
        drop_term(evidence, state, at);
    return state->rule.count > 0;
}

/* Returns whether the passes outside are too many for chance, given the rate of failures inside. */
static bool is_evident(const struct one_sided *state, const struct sides *sides)
{
    const double rate = (sides->fails_inside + 0.5) / (sides->passes_inside + sides->fails_inside + 1.0);
    const int least = state->gain >= PLAIN_GAIN ? FEWER_SURE : LEAST_SURE;
    const int outside = state->confirmed.outside;
    if (state->kind == RULE_NECESSARY)
        return sides->fails_outside == 0 && outside >= least && sides->fails_inside >= LEAST_FAILING &&
               (state->gain >= PLAIN_GAIN || -outside * log2(1 - rate) >= LEAST_EVIDENCE);
    return state->gain >= LEAST_GAIN && sides->passes_inside == 0 && state->confirmed.inside >= least &&
           sides->fails_inside >= sides->fails_outside && sides->passes_outside > 0;
}

/* Counts the runs for the rule as it is. Returns whether it stands. */
static bool stands(const struct evidence *evidence, struct one_sided *state)
{
    struct sides sides;
    count_since(evidence, state);
    count_sides(evidence, &state->rule, &sides);
    return is_evident(state, &sides);
}

/* Records the rule if it stands, or else the closest condition. */
static void conclude(const struct inquiry *inquiry, struct one_sided *state, struct rule *out)
{
    const struct evidence *const evidence = &inquiry->evidence;
    if (!state->known)
        return;
    const struct hypothesis found = state->rule;
    if (drop_terms(evidence, state) && stands(evidence, state) &&
        excludes_enough(inquiry, &state->rule, state->kind))
        state_one_sided(evidence, &state->rule, state->kind, &state->confirmed, out);
    else
        state_closest(inquiry, &found, out);
}

/* --- a few exceptions --- */

/* Failures that are ignored because they lie outside a condition that nearly all others keep. They have
 * another cause, or lie in a corner where another setting amounts to the same. */
struct exceptions {
    int trial[RULE_UNEXPLAINED], count;
};

/* Takes more of them from the failures. False: there are no more, or too many of them. */
static bool set_aside(struct evidence *evidence, struct exceptions *exceptions)
{
    enum { ONE_IN = 50 };
    struct hypothesis divider;
    struct sides sides;
    if (!best_divider(evidence, &divider))
        return false;
    count_sides(evidence, &divider, &sides);
    const int all = exceptions->count + sides.fails_outside;
    if (sides.fails_outside == 0 || all > RULE_UNEXPLAINED || ONE_IN * all > sides.fails_inside)
        return false;
    for (int t = 0; t < evidence->trials; t++)
        if (bit_of(evidence->fails, t) && !hypothesis_holds_on(evidence, &divider, t)) {
            bit_clear(evidence->fails, t);
            exceptions->trial[exceptions->count++] = t;
        }
    return true;
}

/* Looks for a rule of either kind. If none stands, the reason remains. */
static int attempt(struct inquiry *inquiry, struct hypotheses *room, struct rule *out)
{
    struct one_sided state = {.hypotheses = room, .other = room + 1};
    if (look(inquiry, &state) || support(inquiry, &state))
        return -1;
    conclude(inquiry, &state, out);
    return 0;
}

/* Once more without them, and without those that this finds. A rule that stands so is confirmed by runs of
 * its own. */
static int explain_past_exceptions(struct inquiry *inquiry, struct hypotheses *room, struct rule *out)
{
    struct exceptions exceptions = {.count = 0};
    int result = 0;
    while (result == 0 && !out->present && set_aside(&inquiry->evidence, &exceptions))
        result = attempt(inquiry, room, out);
    if (out->present)
        state_exceptions(&inquiry->evidence, exceptions.trial, exceptions.count, out);
    for (int i = 0; i < exceptions.count; i++)
        bit_set(inquiry->evidence.fails, exceptions.trial[i]);
    return result;
}

int explain_one_sided(struct inquiry *inquiry, struct rule *out)
{
    struct hypotheses *room = calloc(2, sizeof *room);
    int result = room ? 0 : -1;
    for (int i = 0; i < inquiry->agains; i++)
        inquiry_learn(inquiry, &inquiry->again[i].config, inquiry->again[i].fails);
    inquiry->extra_runs += inquiry->sided_runs;
    if (result == 0)
        result = attempt(inquiry, room, out);
    if (result == 0 && !out->present)
        result = explain_past_exceptions(inquiry, room, out);
    free(room);
    return result;
}
