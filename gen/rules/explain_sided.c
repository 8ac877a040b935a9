/* Finds a rule that is certain on one side, if no two-sided rule holds, and confirms it by fresh runs. */
#include "explain_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFIT = 6, LEAST_SURE = 8, FEWER_SURE = 4, SIDES = 4, LEAST_FAILING = 3, TRIES = 4, ENOUGH_SURE = 32 };
static const double LEAST_SPLIT = 0.02, LEAST_GAIN = 8, PLAIN_GAIN = 20, LEAST_EVIDENCE = 5,
                    LOOKING_SHARE = 0.5, LEAST_EXCLUDED = 0.03;

struct looking {
    struct guesses *guesses, *other; /* rules of the kind that describes the trials best; partial rules */
    struct guess rule;
    enum rule_kind kind;
    double gain;
    bool known;
    int since[MOST_ATOMS]; /* first trial since each term was adopted, whatever its threshold */
    int fails_inside, inside, passes_outside, outside, turn, tests;
    struct challenges challenges;
};

/* Returns whether one predicate holds wherever another about the same quantity does. */
static bool is_implied(const struct explainer *ex, const struct atom *atom, const struct atom *by)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    bool implied = atom->quantity == by->quantity;
    for (int t = 0; t < ex->trials && implied; t++) {
        const int64_t value = trial_values(ex, t)[atom->quantity];
        implied = atom_holds(atom, quantity, value) || !atom_holds(by, quantity, value);
    }
    return implied;
}

/* Returns whether the terms of the partial rule imply all those of the necessary one, and it has more terms,
 * or shares one. Then "every failure has A" with a condition inside it says more than "always when A and
 * B". */
static bool is_within(const struct explainer *ex, const struct guesses *necessary,
                      const struct guesses *partial)
{
    const struct guess *outer = &necessary->item[0], *inner = &partial->item[0];
    bool same = false;
    if (necessary->count == 0 || inner->count < outer->count)
        return false;
    for (int i = 0; i < outer->count; i++) {
        bool found = false;
        for (int j = 0; j < inner->count; j++) {
            found = found || is_implied(ex, &outer->atom[i], &inner->atom[j]);
            same = same || atom_alike(&outer->atom[i], &inner->atom[j]);
        }
        if (!found)
            return false;
    }
    return same || inner->count > outer->count;
}

/* Counts the run. Returns whether it contradicts the certain side of the rule. */
static bool count(const struct explainer *ex, struct looking *looking, const struct config *config,
                  bool fails)
{
    int64_t value[MOST_QUANTITIES];
    explainer_values(ex, config, true, value);
    const bool inside = guess_holds(ex, &looking->rule, value);
    looking->inside += inside;
    looking->fails_inside += inside && fails;
    looking->outside += !inside;
    looking->passes_outside += !inside && !fails;
    return looking->kind == RULE_NECESSARY ? fails && !inside : !fails && inside;
}

static int since_all(const struct looking *looking)
{
    int since = 0;
    for (int at = 0; at < looking->rule.count; at++)
        since = looking->since[at] > since ? looking->since[at] : since;
    return since;
}

static void count_since(const struct explainer *ex, struct looking *looking)
{
    looking->fails_inside = looking->inside = looking->passes_outside = looking->outside = 0;
    for (int t = since_all(looking); t < ex->trials; t++)
        count(ex, looking, &ex->config[t], bit_of(ex->fails, t));
}

/* Adopts the rule. Runs since a term was adopted continue to count for it, even if its threshold has moved or
 * other terms have changed. */
static void take_rule(const struct explainer *ex, struct looking *looking, const struct guess *rule,
                      bool same_kind)
{
    int since[MOST_ATOMS];
    for (int i = 0; i < rule->count; i++) {
        since[i] = ex->trials;
        for (int j = 0; same_kind && j < looking->rule.count; j++)
            if (atom_alike(&rule->atom[i], &looking->rule.atom[j]))
                since[i] = looking->since[j];
    }
    memcpy(looking->since, since, sizeof since);
    looking->rule = *rule;
}

static const struct guess *sure_of_failures(const struct looking *looking)
{
    return looking->other->count > 0 ? &looking->other->item[0] : NULL;
}

static int refit(struct explainer *ex, struct looking *looking)
{
    enum rule_kind kind = RULE_NECESSARY;
    struct guess inner;
    double gain, other, inside;
    if (search_sided(ex, RULE_NECESSARY, looking->guesses, &gain) ||
        search_sided(ex, RULE_PARTIAL, looking->other, &other))
        return -1;
    if (looking->guesses->count > 0 && search_inner(ex, &looking->guesses->item[0], &inner, &inside))
        gain += inside;
    if (other > gain && !is_within(ex, looking->guesses, looking->other)) {
        *looking->guesses = *looking->other;
        kind = RULE_PARTIAL;
        gain = other;
    }
    const bool alike = looking->known && kind == looking->kind && looking->guesses->count > 0 &&
                       guess_alike(&looking->guesses->item[0], &looking->rule);
    const bool same_kind = looking->known && kind == looking->kind;
    looking->known = looking->guesses->count > 0;
    looking->kind = kind;
    looking->gain = gain;
    if (looking->known) {
        take_rule(ex, looking, &looking->guesses->item[0], same_kind);
        if (!alike)
            challenges_recount(ex, &looking->rule, sure_of_failures(looking), &looking->challenges);
        count_since(ex, looking);
    }
    return 0;
}

static bool challenge(struct explainer *ex, struct looking *looking, struct config *config)
{
    return challenge_next(ex, &looking->rule, sure_of_failures(looking), &looking->challenges, config);
}

static bool pick(struct explainer *ex, struct looking *looking, bool confirming, struct config *config)
{
    if (!confirming && query_pick(ex, looking->guesses, LEAST_SPLIT, config))
        return true;
    const bool sure = looking->tests++ % SIDES != 0; /* mostly the certain side */
    const bool inside = sure == (looking->kind == RULE_PARTIAL);
    if (!inside && sure && looking->tests % 2 && challenge(ex, looking, config))
        return true;
    for (int i = 0; i < 2 * TRIES; i++) {
        const int turn = looking->turn++;
        if ((turn % 2 == 0) == inside && query_confirm(ex, looking->guesses, turn, config))
            return true;
    }
    return false;
}

static bool is_sure(const struct looking *looking)
{
    return (looking->kind == RULE_NECESSARY ? looking->outside : looking->inside) >= ENOUGH_SURE &&
           looking->inside >= ENOUGH_SURE / 2 && looking->outside >= ENOUGH_SURE / 2;
}

/* Looks for a rule while half of the runs last, then confirms it. The rule is refitted after a run that
 * contradicts it. */
static int look(struct explainer *ex, struct looking *looking)
{
    const int first = ex->runs;
    if (refit(ex, looking))
        return -1;
    for (int fitted = ex->runs; looking->known && explainer_may_run(ex) && !is_sure(looking);) {
        const bool confirming = ex->runs - first >= LOOKING_SHARE * (ex->most_runs - first);
        struct config config;
        if (!pick(ex, looking, confirming, &config))
            break;
        const int result = explainer_ask(ex, &config);
        challenge_learn(ex, &looking->challenges, result);
        if (result < 0)
            continue;
        if (count(ex, looking, &config, result == 1) || (!confirming && ex->runs - fitted >= REFIT)) {
            if (refit(ex, looking))
                return -1;
            fitted = ex->runs;
        }
    }
    return 0;
}

/* Picks a run that a standing rule still lacks. It supports or challenges a term of a necessary condition, or
 * tests the certain side. */
static bool pick_support(struct explainer *ex, struct looking *looking, struct config *config)
{
    const bool necessary = looking->kind == RULE_NECESSARY;
    if (!looking->known)
        return false;
    if (necessary && terms_test(ex, &looking->rule, looking->guesses, config))
        return true;
    if (necessary && challenge(ex, looking, config))
        return true;
    return (necessary ? looking->outside : looking->inside) < ENOUGH_SURE / 2 &&
           pick(ex, looking, true, config);
}

/* Makes runs of this kind beyond those allowed. The rule is refitted after a run that contradicts it. */
static int support(struct explainer *ex, struct looking *looking)
{
    struct config config;
    const int allowed = ex->most_runs, before = ex->runs;
    int status = 0;
    ex->most_runs = before + ex->extra_runs;
    while (status == 0 && explainer_may_run(ex) && pick_support(ex, looking, &config)) {
        const int result = explainer_ask(ex, &config);
        challenge_learn(ex, &looking->challenges, result);
        if (result >= 0 && count(ex, looking, &config, result == 1))
            status = refit(ex, looking);
    }
    ex->extra_runs -= ex->runs - before;
    ex->most_runs = allowed + ex->runs - before;
    return status;
}

/* --- the verdict --- */

static void drop_term(const struct explainer *ex, struct looking *looking, int at)
{
    guess_remove(&looking->rule, at);
    for (int i = at; i < looking->rule.count; i++)
        looking->since[i] = looking->since[i + 1];
    challenges_recount(ex, &looking->rule, sure_of_failures(looking), &looking->challenges);
}

/* Returns a term of a necessary condition that is doubtful, or -1. Too few runs support it, it had too few
 * challenges, or its threshold says only that larger configurations are likelier to fail. */
static int doubtful_term(const struct explainer *ex, const struct looking *looking)
{
    bool inside;
    const int weakest = terms_weakest(ex, &looking->rule, &inside);
    for (int at = 0; weakest < 0 && at < looking->rule.count; at++)
        if (!challenge_suffices(&looking->challenges, at) || !threshold_is_sharp(ex, &looking->rule, at))
            return at;
    return weakest;
}

/* Drops doubtful terms. A necessary condition remains necessary without a term; a partial one does not remain
 * partial. Returns false if nothing is left. */
static bool drop_terms(const struct explainer *ex, struct looking *looking)
{
    if (looking->kind != RULE_NECESSARY)
        return terms_drop_weak(ex, &looking->rule) == 0;
    for (int at; looking->rule.count > 0 && (at = doubtful_term(ex, looking)) >= 0;)
        drop_term(ex, looking, at);
    return looking->rule.count > 0;
}

/* Counts all trials: {passes, fails} outside, then inside. */
static void tally(const struct explainer *ex, const struct guess *rule, int side[2][2])
{
    for (int t = 0; t < ex->trials; t++)
        side[guess_holds(ex, rule, trial_values(ex, t))][bit_of(ex->fails, t)]++;
}

/* Returns whether the passes outside are too many for chance, given the rate of failures inside. */
static bool is_evident(const struct looking *looking, int side[2][2])
{
    const double rate = (side[1][1] + 0.5) / (side[1][0] + side[1][1] + 1.0);
    const int least = looking->gain >= PLAIN_GAIN ? FEWER_SURE : LEAST_SURE;
    if (looking->kind == RULE_NECESSARY)
        return side[0][1] == 0 && looking->outside >= least && side[1][1] >= LEAST_FAILING &&
               (looking->gain >= PLAIN_GAIN || -looking->outside * log2(1 - rate) >= LEAST_EVIDENCE);
    return looking->gain >= LEAST_GAIN && side[1][0] == 0 && looking->inside >= least &&
           side[1][1] >= side[0][1] && side[0][0] > 0;
}

static void tell_inner(const struct explainer *ex, const struct guess *rule, struct rule *out)
{
    struct guess inner;
    double gain;
    if (!search_inner(ex, rule, &inner, &gain) || !guess_format(ex, &inner, out->inner, sizeof out->inner)) {
        out->inner[0] = '\0';
        return;
    }
    for (int t = 0; t < ex->trials; t++) {
        const int64_t *value = trial_values(ex, t);
        const bool fails = bit_of(ex->fails, t), holds = guess_holds(ex, &inner, value);
        if (!guess_holds(ex, rule, value))
            continue;
        out->inner_runs += holds;
        out->inner_fails += holds && fails;
        out->other_runs += !holds;
        out->other_fails += !holds && fails;
    }
}

static void list_unexplained(const struct explainer *ex, const struct guess *rule, struct rule *out)
{
    int listed = 0;
    for (int t = 0; t < ex->trials && listed < RULE_UNEXPLAINED; t++)
        if (bit_of(ex->fails, t) && !guess_holds(ex, rule, trial_values(ex, t)))
            config_format(&ex->config[t], out->unexplained[listed++], RULE_LINE_SIZE);
}

/* Returns whether the rule excludes enough. A condition that nearly always holds does not tell when failures
 * occur, even if none contradicts it. This concerns thresholds that exclude hardly any of the fresh
 * configurations, which are independent of rules. */
static bool excludes_enough(const struct explainer *ex, const struct guess *rule, enum rule_kind kind)
{
    int64_t value[MOST_QUANTITIES];
    int outside = 0;
    bool thresholds = kind == RULE_NECESSARY;
    for (int i = 0; i < rule->count; i++)
        thresholds = thresholds && rule->atom[i].kind == ATOM_ABOVE;
    for (int i = 0; thresholds && i < ex->fresh.count; i++) {
        explainer_values(ex, &ex->fresh.item[i], true, value);
        outside += !guess_holds(ex, rule, value);
    }
    return !thresholds || outside >= LEAST_EXCLUDED * ex->fresh.count;
}

/* The one question that most divides all failures from all passes; false: none is worth saying. */
static bool find_divider(const struct explainer *ex, struct guess *out)
{
    const struct guess any = {.count = 0};
    double gain;
    return search_inner(ex, &any, out, &gain) && gain >= PLAIN_GAIN;
}

/* Adds the closest condition to the reason, if enough runs lie outside it. */
static void tell_nearest(const struct explainer *ex, const struct guess *rule, struct rule *out)
{
    const size_t length = strlen(out->reason);
    int side[2][2] = {{0}};
    struct guess divider;
    if (out->closest[0]) /* an earlier attempt, with all failures, has set it */
        return;
    tally(ex, rule, side);
    if (side[0][0] + side[0][1] < LEAST_SURE || !excludes_enough(ex, rule, RULE_NECESSARY)) {
        if (!find_divider(ex, &divider))
            return;
        rule = &divider;
        memset(side, 0, sizeof side);
        tally(ex, rule, side);
    }
    if (!guess_format(ex, rule, out->closest, sizeof out->closest)) {
        out->closest[0] = '\0';
        return;
    }
    snprintf(out->reason + length, sizeof out->reason - length,
             "; closest: %s (%d of %d runs inside it fail, %d of %d outside it)", out->closest, side[1][1],
             side[1][0] + side[1][1], side[0][1], side[0][0] + side[0][1]);
}

void tell_exceptions(const struct explainer *ex, const struct guess *rule, struct rule *out)
{
    int side[2][2] = {{0}};
    tally(ex, rule, side);
    out->explained = side[1][1];
    out->failures = side[1][1] + side[0][1];
    if (side[0][1] > 0 && side[1][0] == 0) {
        out->kind = RULE_PARTIAL;
        list_unexplained(ex, rule, out);
    }
}

/* Counts the runs for the rule as it is. Returns whether it stands. */
static bool stands(const struct explainer *ex, struct looking *looking, int side[2][2])
{
    memset(side, 0, 2 * sizeof *side);
    count_since(ex, looking);
    tally(ex, &looking->rule, side);
    return is_evident(looking, side);
}

static void tell(const struct explainer *ex, struct looking *looking, struct rule *out)
{
    int side[2][2] = {{0}};
    char text[sizeof out->text];
    if (!looking->known)
        return;
    const struct guess found = looking->rule;
    const bool whole = drop_terms(ex, looking), evident = whole && stands(ex, looking, side);
    if (!whole || !evident || !excludes_enough(ex, &looking->rule, looking->kind)) {
        tell_nearest(ex, &found, out);
        return;
    }
    if (!guess_format(ex, &looking->rule, text, sizeof text))
        return;
    out->present = true;
    out->kind = looking->kind;
    limits_tell(ex, &looking->rule, out->limit, sizeof out->limit);
    snprintf(out->text, sizeof out->text, "%s", text);
    out->reason[0] = out->closest[0] = '\0';
    out->fails_inside = looking->fails_inside;
    out->inside = looking->inside;
    out->passes_outside = looking->passes_outside;
    out->outside = looking->outside;
    out->explained = side[1][1];
    out->failures = side[1][1] + side[0][1];
    out->precision = (double)side[1][1] / (side[1][0] + side[1][1]);
    out->recall = (double)out->explained / out->failures;
    if (out->kind == RULE_NECESSARY)
        tell_inner(ex, &looking->rule, out);
    else
        list_unexplained(ex, &looking->rule, out);
}

/* --- a few exceptions --- */

/* Failures that are ignored because they lie outside a condition that nearly all others keep. They have
 * another cause, or lie in a corner where another setting amounts to the same. */
struct exceptions {
    int trial[RULE_UNEXPLAINED], count;
};

/* Takes more of them from the failures. False: there are no more, or too many of them. */
static bool set_aside(struct explainer *ex, struct exceptions *exceptions)
{
    enum { ONE_IN = 50 };
    int side[2][2] = {{0}};
    struct guess divider;
    if (!find_divider(ex, &divider))
        return false;
    tally(ex, &divider, side);
    const int all = exceptions->count + side[0][1];
    if (side[0][1] == 0 || all > RULE_UNEXPLAINED || ONE_IN * all > side[1][1])
        return false;
    for (int t = 0; t < ex->trials; t++)
        if (bit_of(ex->fails, t) && !guess_holds(ex, &divider, trial_values(ex, t))) {
            ex->fails[t / 64] &= ~((uint64_t)1 << t % 64);
            exceptions->trial[exceptions->count++] = t;
        }
    return true;
}

static void tell_aside(const struct explainer *ex, const struct exceptions *exceptions, struct rule *out)
{
    int listed = 0;
    while (listed < RULE_UNEXPLAINED && out->unexplained[listed][0])
        listed++;
    for (int i = 0; i < exceptions->count && listed < RULE_UNEXPLAINED; i++)
        config_format(&ex->config[exceptions->trial[i]], out->unexplained[listed++], RULE_LINE_SIZE);
    out->failures += exceptions->count;
    out->recall = (double)out->explained / out->failures;
}

/* Looks for a rule of either kind. If none stands, the reason remains. */
static int attempt(struct explainer *ex, struct guesses *room, struct rule *out)
{
    struct looking looking = {.guesses = room, .other = room + 1};
    if (look(ex, &looking) || support(ex, &looking))
        return -1;
    tell(ex, &looking, out);
    return 0;
}

/* Once more without them, and without those that this finds. A rule that stands so is confirmed by runs of
 * its own. */
static int explain_past_exceptions(struct explainer *ex, struct guesses *room, struct rule *out)
{
    struct exceptions exceptions = {.count = 0};
    int result = 0;
    while (result == 0 && !out->present && set_aside(ex, &exceptions))
        result = attempt(ex, room, out);
    if (out->present)
        tell_aside(ex, &exceptions, out);
    for (int i = 0; i < exceptions.count; i++)
        bit_set(ex->fails, exceptions.trial[i]);
    return result;
}

int explain_sided(struct explainer *ex, struct rule *out)
{
    struct guesses *room = calloc(2, sizeof *room);
    int result = room ? 0 : -1;
    for (int i = 0; i < ex->agains; i++)
        explainer_learn(ex, &ex->again[i].config, ex->again[i].fails);
    ex->extra_runs += ex->sided_runs;
    if (result == 0)
        result = attempt(ex, room, out);
    if (result == 0 && !out->present)
        result = explain_past_exceptions(ex, room, out);
    free(room);
    return result;
}
