/* Finds a rule that is right on both sides. The search finds rules that fit the trials; runs on which they
 * disagree reject some of them; further runs confirm the rule that remains. */
#include "rules_internal.h"

#include <stdlib.h>

enum {
    CONFIRMING = 50, /* runs kept for confirming a rule */
    ENOUGH = 64,     /* runs since a rule was adopted that confirm it, if both sides have enough of them */
    LEAST_SIDE = 12, /* enough on a side if all runs agree with the rule */
    IMPERFECT_SIDE = 36,    /* enough on a side if some runs do not */
    MORE_THAN_ENOUGH = 100, /* runs that confirm it without enough on both sides */
    /* runs after which rivals and terms with little support no longer delay confirmation */
    ENOUGH_FOR_TERMS = 160,
    PICKS = 3,           /* attempts to find a configuration on which the rules disagree */
    RIVALS_STAY = 3,     /* trials after which the rivals are searched again */
    CREDIBLE = 4,        /* failures inside the rule from which on a pass inside it may be due to chance */
    A_WHILE = 16,        /* runs since a rule was adopted, after which tests of it alternate with queries */
    KEPT_FOR_SIDED = 40, /* percentage of the runs kept for one-sided rules */
};
static const double LEAST_SPLIT = 0.002;

/* The current rule, and its results on the runs made since it was adopted. */
struct two_sided {
    struct hypotheses hypotheses;
    struct hypothesis rule;
    struct confirmation confirmed;
    int since; /* first trial made since then */
    bool known, stale, confirming;
    int turn, steps, alive;
    int wrong, contradicted;  /* trials that contradict the rule: before it was adopted, and later */
    int dropped;              /* rules that were replaced */
    struct hypotheses rivals; /* simpler rules that few passes contradict */
    int rivals_at;            /* number of trials when they were searched; 0: not yet */
    bool rivals_over;         /* no run can distinguish them from the rule */
};

/* --- guessing and running --- */

static int refit(const struct inquiry *inquiry, struct two_sided *state)
{
    state->wrong = search_rules(&inquiry->evidence, &state->hypotheses);
    if (state->wrong < 0)
        return -1;
    state->contradicted = 0;
    state->stale = false;
    state->alive = state->hypotheses.count;
    if (state->hypotheses.count > 0 &&
        (!state->known || !hypothesis_same(&state->hypotheses.item[0], &state->rule))) {
        state->rule = state->hypotheses.item[0];
        state->dropped += state->known;
        state->known = true;
        state->confirming = false;
        state->rivals_over = false;
        state->rivals_at = 0;
        state->since = inquiry->evidence.trials;
        state->confirmed = (struct confirmation){0};
    }
    return 0;
}

static int reserve_of(const struct inquiry *inquiry)
{
    return inquiry->most_runs < 2 * CONFIRMING ? inquiry->most_runs / 2 : CONFIRMING;
}

/* Picks a run on which the rule and a rival disagree. They agree on most of the contract, so other runs do
 * not tell which one is right. */
static bool pick_apart(struct inquiry *inquiry, struct two_sided *state, struct config *config)
{
    if (state->rivals_over)
        return false;
    if (state->rivals_at == 0 || inquiry->evidence.trials >= state->rivals_at + RIVALS_STAY) {
        if (search_rivals(&inquiry->evidence, &state->rule, &state->rivals))
            return false;
        state->rivals_at = inquiry->evidence.trials;
    }
    state->rivals_over =
        state->rivals.count == 0 || !query_rivals(inquiry, &state->rule, &state->rivals, config);
    return !state->rivals_over;
}

/* Picks a run that tests the rule: against a rival, for the term with the least support, or in general. */
static bool pick_test(struct inquiry *inquiry, struct two_sided *state, struct config *config)
{
    if (state->turn % 3 != 2 && pick_apart(inquiry, state, config)) {
        state->turn++;
        return true;
    }
    if (state->turn % 2 && query_weak_term(inquiry, &state->rule, &state->hypotheses, config)) {
        state->turn++;
        return true;
    }
    for (int i = 0; i < QUERY_TURNS; i++)
        if (query_confirm(inquiry, &state->hypotheses, state->turn++, config))
            return true;
    return false;
}

/* Picks the next run: queries while the rules disagree, alternating with tests once a rule has stood for a
 * while. If no query is found and runs have contradicted some of the rules, they are stale, since the search
 * may put others in their places. */
static bool pick(struct inquiry *inquiry, struct two_sided *state, struct config *config)
{
    const bool stands = runs_of(&state->confirmed) >= A_WHILE;
    state->confirming = state->confirming || inquiry->most_runs - inquiry->runs <= reserve_of(inquiry);
    if (state->confirming || (stands && ++state->steps % 2 == 0))
        return pick_test(inquiry, state, config);
    for (int i = 0; i < PICKS; i++)
        if (query_divide(inquiry, &state->hypotheses, LEAST_SPLIT, config))
            return true;
    state->stale = state->alive < state->hypotheses.count;
    state->confirming = !state->stale;
    return !state->stale && pick_test(inquiry, state, config);
}

/* Makes one run. Returns false if nothing is left to ask. */
static bool step(struct inquiry *inquiry, struct two_sided *state)
{
    const struct evidence *const evidence = &inquiry->evidence;
    struct config config;
    if (!pick(inquiry, state, &config))
        return state->stale;
    const int result = inquiry_ask(inquiry, &config);
    if (result < 0)
        return true;
    const bool says = confirmation_add(&state->confirmed, evidence, &state->rule, evidence->trials - 1);
    if (result == 0 && says && state->confirmed.fails_inside >= CREDIBLE &&
        repeat_pass(inquiry, evidence->trials - 1))
        return true; /* the pass was due to chance in its inputs */
    state->alive = query_learn(&inquiry->vocabulary, &state->hypotheses, &config, result == 1);
    state->contradicted += !state->hypotheses.item[0].alive;
    /* A rule that contradicted some trials from the start is not dropped for one more. */
    state->stale = state->contradicted > state->wrong / 4 || 4 * state->alive < state->hypotheses.count;
    state->hypotheses.item[0].alive = true;
    return true;
}

/* Returns whether the rule is confirmed. A rule that some fresh runs contradict needs more of them. A few
 * runs may agree even with a rule that is right on only three quarters. */
static bool is_confirmed(const struct inquiry *inquiry, const struct two_sided *state)
{
    bool weak_inside;
    const int inside = state->confirmed.inside, outside = state->confirmed.outside, runs = inside + outside;
    const bool perfect = all_agree(&state->confirmed);
    const int least = perfect ? LEAST_SIDE : IMPERFECT_SIDE;
    const bool both = inside >= least && outside >= least;
    return state->confirming && runs >= (both ? ENOUGH : MORE_THAN_ENOUGH) && (both || perfect) &&
           (runs >= ENOUGH_FOR_TERMS ||
            (state->rivals_over && weakest_term(&inquiry->evidence, &state->rule, &weak_inside) < 0));
}

/* Makes further runs (inquiry->extra_runs) for terms with little support. So a rule loses a term for lack of
 * support only if no supporting runs can be found. */
static void support_terms(struct inquiry *inquiry, struct two_sided *state)
{
    struct config config;
    const int allowed = inquiry->most_runs, before = inquiry->runs;
    inquiry->most_runs = before + inquiry->extra_runs;
    while (inquiry_may_run(inquiry) &&
           (pick_apart(inquiry, state, &config) ||
            query_weak_term(inquiry, &state->rule, &state->hypotheses, &config))) {
        const int result = inquiry_ask(inquiry, &config);
        if (result >= 0)
            confirmation_add(&state->confirmed, &inquiry->evidence, &state->rule,
                             inquiry->evidence.trials - 1);
    }
    inquiry->extra_runs -= inquiry->runs - before;
    inquiry->most_runs = allowed + inquiry->runs - before;
}

/* Returns whether to stop looking for a two-sided rule. The last runs are kept for a one-sided rule. */
static bool gives_up(const struct inquiry *inquiry, const struct two_sided *state)
{
    const int asked = runs_of(&state->confirmed);
    const bool clean = all_agree(&state->confirmed);
    const bool late = inquiry->most_runs - inquiry->runs <= inquiry->most_runs * KEPT_FOR_SIDED / 100;
    return late && asked < MORE_THAN_ENOUGH / 2 && (state->wrong > 0 || !clean);
}

static int narrow(struct inquiry *inquiry, struct two_sided *state)
{
    if (refit(inquiry, state))
        return -1;
    while (inquiry_may_run(inquiry) && state->known && !gives_up(inquiry, state) &&
           !is_confirmed(inquiry, state)) {
        if (!step(inquiry, state))
            break;
        if (state->stale && refit(inquiry, state))
            return -1;
    }
    return 0;
}

/* Drops terms with too little support, and judges the rule anew. */
static void drop_unsupported(const struct evidence *evidence, struct two_sided *state, struct rule *out)
{
    if (drop_weak_terms(evidence, &state->rule) == 0)
        return;
    state->confirmed = (struct confirmation){0};
    for (int t = state->since; t < evidence->trials; t++)
        confirmation_add(&state->confirmed, evidence, &state->rule, t);
    state_two_sided(evidence, &state->rule, &state->confirmed, state->dropped, out);
}

int explain_two_sided(struct inquiry *inquiry, struct rule *out)
{
    const struct evidence *const evidence = &inquiry->evidence;
    struct two_sided *const state = calloc(1, sizeof *state);
    int result = state ? narrow(inquiry, state) : -1;
    if (result == 0 && state->known && runs_of(&state->confirmed) >= LEAST_CONFIRMED)
        support_terms(inquiry, state);
    if (result == 0) {
        state_two_sided(evidence, state->known ? &state->rule : NULL, &state->confirmed, state->dropped, out);
        if (out->present)
            drop_unsupported(evidence, state, out);
        if (out->present)
            state_two_sided_details(evidence, &state->rule, out);
    }
    free(state);
    return result;
}
