/* Explains all failures by one rule. The search finds rules that fit the trials; runs on which they disagree
 * reject some of them; further runs confirm the rule that remains. */
#include "explain_internal.h"
#include "proportion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRESH = 160,     /* configurations in the pool to begin with */
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
    LEAST_CONFIRMED = 8,
    REPEATS = 3,
    MORE_REPEATS = 8
};
static const double LEAST_SPLIT = 0.002, LEAST_RIGHT = 0.9, SURELY_RIGHT = 0.8;

/* The current rule, and its results on the runs made since it was adopted. */
struct standing {
    struct guesses guesses;
    struct guess rule;
    int fails_inside, inside, passes_outside, outside;
    int since; /* first trial made since then */
    bool known, stale, confirming;
    int turn, steps, alive;
    int wrong, contradicted; /* trials that contradict the rule: before it was adopted, and later */
    int dropped;             /* rules that were replaced */
    struct guesses rivals;   /* simpler rules that few passes contradict */
    int rivals_at;           /* number of trials when they were searched; 0: not yet */
    bool rivals_over;        /* no run can distinguish them from the rule */
};

int explainer_run(struct explainer *ex, const struct config *config)
{
    const int result = ex->run(ex->data, config);
    ex->stopped = ex->stopped || result == -2;
    ex->runs += result != -2;
    if (result != 0 && result != 1)
        point_set_add(&ex->used, config);
    return result < 0 ? -1 : result;
}

int explainer_ask(struct explainer *ex, const struct config *config)
{
    const int result = explainer_run(ex, config);
    if (result >= 0)
        explainer_learn(ex, config, result == 1);
    return result;
}

bool explainer_may_run(const struct explainer *ex)
{
    return !ex->stopped && ex->runs < ex->most_runs && ex->trials < ex->capacity;
}

/* --- does it repeat? --- */

struct repeats {
    int again, asked;
};

/* Repeats runs of failing trials, with their own seed or another, and counts the failures. Results with
 * another seed are kept in ex->again. */
static void repeat(struct explainer *ex, int known, int times, bool other_seed, struct repeats *repeats)
{
    int trial = (int)pcg_below(ex->stream, (uint64_t)known);
    for (int i = 0; i < times && explainer_may_run(ex); i++) {
        for (int step = 0; step < known && (step == 0 || !bit_of(ex->fails, trial)); step++)
            trial = (trial + 1) % known;
        struct config config = ex->config[trial];
        if (other_seed && !explainer_reseed(ex, &config))
            continue; /* every other seed changes the derived sizes, which may be the cause of the failure */
        const int result = explainer_run(ex, &config);
        repeats->asked += result >= 0;
        repeats->again += result == 1;
        if (other_seed && result >= 0 && ex->agains < MOST_AGAIN)
            ex->again[ex->agains++] = (struct explain_trial){config, result == 1};
    }
}

static bool holds_mostly(const struct repeats *repeats)
{
    return repeats->again >= LEAST_RIGHT * repeats->asked;
}

enum repeating {
    REPEATS_NEVER,
    /* races or uninitialised memory, or a fault that depends on the values of the inputs */
    REPEATS_SOMETIMES,
    REPEATS_ALWAYS
};

/* Determines whether failing configurations fail again, with the same inputs and with other seeds. If they do
 * not, out->reason says so. */
static enum repeating ask_repeats(struct explainer *ex, int known, struct rule *out)
{
    struct repeats same = {0}, other = {0};
    const int times = ex->most_runs >= 40 ? REPEATS : 1;
    repeat(ex, known, times, false, &same);
    repeat(ex, known, times, true, &other);
    if (same.again < same.asked)
        repeat(ex, known, MORE_REPEATS, false, &same);
    else if (other.again < other.asked)
        repeat(ex, known, MORE_REPEATS, true, &other);
    if (!holds_mostly(&same))
        snprintf(out->reason, sizeof out->reason,
                 "it does not repeat: run again, %d of %d failing "
                 "configurations failed",
                 same.again, same.asked);
    else if (!holds_mostly(&other))
        snprintf(out->reason, sizeof out->reason,
                 "it does not repeat with other inputs: %d of %d "
                 "failing configurations failed with another seed",
                 other.again, other.asked);
    if (holds_mostly(&same))
        return holds_mostly(&other) ? REPEATS_ALWAYS : REPEATS_SOMETIMES;
    return same.again > 0 ? REPEATS_SOMETIMES : REPEATS_NEVER;
}

/* --- guessing and running --- */

static int refit(const struct explainer *ex, struct standing *standing)
{
    standing->wrong = search_rules(ex, &standing->guesses);
    if (standing->wrong < 0)
        return -1;
    standing->contradicted = 0;
    standing->stale = false;
    standing->alive = standing->guesses.count;
    if (standing->guesses.count > 0 &&
        (!standing->known || !guess_same(&standing->guesses.item[0], &standing->rule))) {
        standing->rule = standing->guesses.item[0];
        standing->dropped += standing->known;
        standing->known = true;
        standing->confirming = false;
        standing->rivals_over = false;
        standing->rivals_at = 0;
        standing->since = ex->trials;
        standing->inside = standing->outside = standing->fails_inside = standing->passes_outside = 0;
    }
    return 0;
}

static void count(const struct explainer *ex, struct standing *standing, const struct config *config,
                  bool fails)
{
    int64_t value[MOST_QUANTITIES];
    explainer_values(ex, config, true, value);
    if (guess_holds(ex, &standing->rule, value)) {
        standing->inside++;
        standing->fails_inside += fails;
    } else {
        standing->outside++;
        standing->passes_outside += !fails;
    }
}

static int reserve_of(const struct explainer *ex)
{
    return ex->most_runs < 2 * CONFIRMING ? ex->most_runs / 2 : CONFIRMING;
}

/* Picks a run on which the rule and a rival disagree. They agree on most of the contract, so other runs do
 * not tell which one is right. */
static bool pick_apart(struct explainer *ex, struct standing *standing, struct config *config)
{
    if (standing->rivals_over)
        return false;
    if (standing->rivals_at == 0 || ex->trials >= standing->rivals_at + RIVALS_STAY) {
        if (search_rivals(ex, &standing->rule, &standing->rivals))
            return false;
        standing->rivals_at = ex->trials;
    }
    standing->rivals_over =
        standing->rivals.count == 0 || !rivals_test(ex, &standing->rule, &standing->rivals, config);
    return !standing->rivals_over;
}

/* Picks a run that tests the rule: against a rival, for the term with the least support, or in general. */
static bool pick_test(struct explainer *ex, struct standing *standing, struct config *config)
{
    if (standing->turn % 3 != 2 && pick_apart(ex, standing, config)) {
        standing->turn++;
        return true;
    }
    if (standing->turn % 2 && terms_test(ex, &standing->rule, &standing->guesses, config)) {
        standing->turn++;
        return true;
    }
    for (int i = 0; i < QUERY_TURNS; i++)
        if (query_confirm(ex, &standing->guesses, standing->turn++, config))
            return true;
    return false;
}

/* Picks the next run: queries while the rules disagree, alternating with tests once a rule has stood for a
 * while. If no query is found and runs have contradicted some of the rules, they are stale, since the search
 * may put others in their places. */
static bool pick(struct explainer *ex, struct standing *standing, struct config *config)
{
    const bool stands = standing->inside + standing->outside >= A_WHILE;
    standing->confirming = standing->confirming || ex->most_runs - ex->runs <= reserve_of(ex);
    if (standing->confirming || (stands && ++standing->steps % 2 == 0))
        return pick_test(ex, standing, config);
    for (int i = 0; i < PICKS; i++)
        if (query_pick(ex, &standing->guesses, LEAST_SPLIT, config))
            return true;
    standing->stale = standing->alive < standing->guesses.count;
    standing->confirming = !standing->stale;
    return !standing->stale && pick_test(ex, standing, config);
}

/* Makes one run. Returns false if nothing is left to ask. */
static bool step(struct explainer *ex, struct standing *standing)
{
    struct config config;
    if (!pick(ex, standing, &config))
        return standing->stale;
    const int result = explainer_ask(ex, &config);
    if (result < 0)
        return true;
    const bool says = guess_holds(ex, &standing->rule, trial_values(ex, ex->trials - 1));
    count(ex, standing, &config, result == 1);
    if (result == 0 && says && standing->fails_inside >= CREDIBLE && doubt_pass(ex, ex->trials - 1))
        return true; /* the pass was due to chance in its inputs */
    standing->alive = query_learn(ex, &standing->guesses, &config, result == 1);
    standing->contradicted += !standing->guesses.item[0].alive;
    /* A rule that contradicted some trials from the start is not dropped for one more. */
    standing->stale =
        standing->contradicted > standing->wrong / 4 || 4 * standing->alive < standing->guesses.count;
    standing->guesses.item[0].alive = true;
    return true;
}

/* Returns whether the rule is confirmed. A rule that some fresh runs contradict needs more of them. A few
 * runs may agree even with a rule that is right on only three quarters. */
static bool is_confirmed(const struct explainer *ex, const struct standing *standing)
{
    bool weak_inside;
    const int inside = standing->inside, outside = standing->outside, runs = inside + outside;
    const bool perfect = standing->fails_inside == inside && standing->passes_outside == outside;
    const int least = perfect ? LEAST_SIDE : IMPERFECT_SIDE;
    const bool both = inside >= least && outside >= least;
    return standing->confirming && runs >= (both ? ENOUGH : MORE_THAN_ENOUGH) && (both || perfect) &&
           (runs >= ENOUGH_FOR_TERMS ||
            (standing->rivals_over && terms_weakest(ex, &standing->rule, &weak_inside) < 0));
}

/* Makes further runs (ex->extra_runs) for terms with little support. So a rule loses a term for lack of
 * support only if no supporting runs can be found. */
static void support_terms(struct explainer *ex, struct standing *standing)
{
    struct config config;
    const int allowed = ex->most_runs, before = ex->runs;
    ex->most_runs = before + ex->extra_runs;
    while (explainer_may_run(ex) && (pick_apart(ex, standing, &config) ||
                                     terms_test(ex, &standing->rule, &standing->guesses, &config))) {
        const int result = explainer_ask(ex, &config);
        if (result >= 0)
            count(ex, standing, &config, result == 1);
    }
    ex->extra_runs -= ex->runs - before;
    ex->most_runs = allowed + ex->runs - before;
}

/* Returns whether to stop looking for a two-sided rule. The last runs are kept for a one-sided rule. */
static bool gives_up(const struct explainer *ex, const struct standing *standing)
{
    const int asked = standing->inside + standing->outside;
    const bool clean =
        standing->fails_inside == standing->inside && standing->passes_outside == standing->outside;
    const bool late = ex->most_runs - ex->runs <= ex->most_runs * KEPT_FOR_SIDED / 100;
    return late && asked < MORE_THAN_ENOUGH / 2 && (standing->wrong > 0 || !clean);
}

static int narrow(struct explainer *ex, struct standing *standing)
{
    if (refit(ex, standing))
        return -1;
    while (explainer_may_run(ex) && standing->known && !gives_up(ex, standing) &&
           !is_confirmed(ex, standing)) {
        if (!step(ex, standing))
            break;
        if (standing->stale && refit(ex, standing))
            return -1;
    }
    return 0;
}

/* --- the verdict on the rule --- */

/* Returns whether the share itself and its lower confidence limit (90%) are high enough. */
static bool is_right(int right, int asked)
{
    const double one_sided_90 = 1.2816;
    if (right == asked)
        return true;
    const struct proportion share = proportion_wilson(right, asked, one_sided_90);
    return share.value >= LEAST_RIGHT && share.low >= SURELY_RIGHT;
}

/* Returns whether the rule is right on either side over all trials, and holds on most failures. The simplest
 * one, which is reported beside it, must be among these. Fresh runs alone do not suffice. A rule that was
 * dropped and adopted again counts them anew, and a wrong rule has a lucky streak in the end. Published
 * points do not count, since a kernel may have memorised them. */
static bool holds_overall(const struct explainer *ex, const struct guess *rule)
{
    int asked[2] = {0}, right[2] = {0}, fails = 0;
    if (!guess_holds(ex, rule, trial_values(ex, simplest_failure(ex))))
        return false;
    for (int t = 0; t < ex->trials; t++) {
        const bool says = guess_holds(ex, rule, trial_values(ex, t));
        if (!bit_of(ex->unpublished, t))
            continue;
        asked[says]++;
        right[says] += says == bit_of(ex->fails, t);
        fails += bit_of(ex->fails, t);
    }
    return is_right(right[0], asked[0]) && is_right(right[1], asked[1]) && right[1] >= SURELY_RIGHT * fails;
}

static void judge(const struct explainer *ex, const struct standing *standing, struct rule *out)
{
    const int right = standing->fails_inside + standing->passes_outside;
    const int asked = standing->inside + standing->outside;
    char text[sizeof out->text];
    out->fails_inside = standing->fails_inside;
    out->inside = standing->inside;
    out->passes_outside = standing->passes_outside;
    out->outside = standing->outside;
    if (!standing->known)
        snprintf(out->reason, sizeof out->reason, "no rule fits");
    else if (!guess_format(ex, &standing->rule, text, sizeof text))
        snprintf(out->reason, sizeof out->reason, "the rule that fits is too long to print");
    else if (asked < LEAST_CONFIRMED && standing->dropped > 0)
        snprintf(out->reason, sizeof out->reason,
                 "each of the %d rules that fitted was contradicted by a later run", standing->dropped);
    else if (asked < LEAST_CONFIRMED)
        snprintf(out->reason, sizeof out->reason, "%d fresh runs are too few to confirm a rule", asked);
    else if (!is_right(right, asked) || !is_right(standing->fails_inside, standing->inside) ||
             !is_right(standing->passes_outside, standing->outside))
        snprintf(out->reason, sizeof out->reason,
                 "the best rule found is contradicted by %d of %d fresh runs", asked - right, asked);
    else if (!holds_overall(ex, &standing->rule))
        snprintf(out->reason, sizeof out->reason,
                 "the best rule found is contradicted by runs before the last %d", asked);
    else
        out->present = true;
    if (out->present) {
        snprintf(out->text, sizeof out->text, "%s", text);
        out->always = standing->rule.count == 0;
    }
}

static void score(const struct explainer *ex, const struct guess *rule, struct rule *out)
{
    int both = 0, said = 0, fails = 0;
    for (int t = 0; t < ex->trials; t++) {
        const bool says = guess_holds(ex, rule, trial_values(ex, t)), does = bit_of(ex->fails, t);
        both += says && does;
        said += says;
        fails += does;
    }
    out->precision = said ? (double)both / said : 0;
    out->recall = fails ? (double)both / fails : 0;
}

/* Drops terms with too little support. Reports the rule if it is still right on both sides. */
static void settle(const struct explainer *ex, struct standing *standing, struct rule *out)
{
    if (terms_drop_weak(ex, &standing->rule) > 0) {
        standing->inside = standing->outside = standing->fails_inside = standing->passes_outside = 0;
        for (int t = standing->since; t < ex->trials; t++)
            count(ex, standing, &ex->config[t], bit_of(ex->fails, t));
        out->present = out->always = false;
        out->text[0] = '\0';
        judge(ex, standing, out);
    }
    if (out->present) {
        score(ex, &standing->rule, out);
        limits_tell(ex, &standing->rule, out->limit, sizeof out->limit);
        tell_exceptions(ex, &standing->rule, out);
    }
}

static int explain_known(struct explainer *ex, int known, struct rule *out)
{
    struct standing *standing = calloc(1, sizeof *standing);
    int result = standing ? 0 : -1;
    const enum repeating repeating = result == 0 ? ask_repeats(ex, known, out) : REPEATS_NEVER;
    if (repeating != REPEATS_NEVER) {
        const bool always = repeating == REPEATS_ALWAYS;
        result = pool_fill(ex, FRESH);
        if (result == 0 && always)
            probe_simplest(ex);
        if (result == 0 && always)
            result = narrow(ex, standing);
        if (result == 0 && standing->known && standing->inside + standing->outside >= LEAST_CONFIRMED)
            support_terms(ex, standing);
        if (result == 0 && always)
            judge(ex, standing, out);
        if (result == 0 && out->present)
            settle(ex, standing, out);
        if (result == 0 && !out->present) {
            /* a one-sided rule may cover configurations that fail with some inputs only, so all passes
             * count */
            doubt_forget(ex);
            result = explain_sided(ex, out);
        }
    }
    out->runs = ex->runs;
    free(standing);
    return result;
}

int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct explain_trial *known, int count, int runs, uint64_t seed, explain_run run,
            void *data, struct rule *out)
{
    struct explainer *ex = calloc(1, sizeof *ex);
    int result = ex ? explainer_open(ex, space, caps, seen, count, runs, seed) : -1, fails = 0;
    *out = (struct rule){.present = false};
    for (int i = 0; result == 0 && i < count; i++) {
        explainer_learn(ex, &known[i].config, known[i].fails);
        fails += known[i].fails;
    }
    if (result == 0 && fails == 0) {
        snprintf(out->reason, sizeof out->reason, "nothing failed");
    } else if (result == 0) {
        ex->run = run;
        ex->data = data;
        result = explain_known(ex, count, out);
    }
    if (ex)
        explainer_close(ex);
    free(ex);
    return result;
}
