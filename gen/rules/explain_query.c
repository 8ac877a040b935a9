/* Chooses the next configuration to run: one on which the remaining rules disagree most, or one that tests
 * the best of them. */
#include "explain_internal.h"

enum { CANDIDATES = 256, SHORT_LIST = 8, CONFIRM_TRIES = 240, CONFIRM_CHOICE = 4, CONFIRM_BITS = 24 };

struct candidate {
    struct config config;
    double score;
};

static double weight_of(const struct guesses *guesses, const struct guess *guess)
{
    return __builtin_exp2((guesses->item[0].cost - guess->cost) / 2);
}

/* Returns how evenly the configuration divides the rules: the smaller part of their weight, up to one
 * half. */
static double split_of(const struct explainer *ex, const struct guesses *guesses, const int64_t *value)
{
    double fails = 0, all = 0;
    for (int i = 0; i < guesses->count; i++) {
        const struct guess *guess = &guesses->item[i];
        if (!guess->alive)
            continue;
        const double weight = weight_of(guesses, guess);
        all += weight;
        fails += guess_holds(ex, guess, value) ? weight : 0;
    }
    return all > 0 ? (2 * fails < all ? fails : all - fails) / all : 0;
}

static void shortlist(struct candidate *list, int *count, const struct candidate *candidate)
{
    int at = *count;
    if (at == SHORT_LIST && candidate->score <= list[at - 1].score)
        return;
    if (*count < SHORT_LIST)
        (*count)++;
    else
        at--;
    for (; at > 0 && list[at - 1].score < candidate->score; at--)
        list[at] = list[at - 1];
    list[at] = *candidate;
}

bool query_pick(struct explainer *ex, const struct guesses *guesses, double least, struct config *out)
{
    const bool derived = guesses_ask_derived(ex, guesses);
    struct candidate list[SHORT_LIST];
    int64_t value[MOST_QUANTITIES];
    int count = 0;
    for (int i = 0; i < CANDIDATES; i++) {
        struct candidate candidate;
        if (!pool_draw(ex, guesses, &candidate.config))
            continue;
        explainer_values(ex, &candidate.config, derived, value);
        const double split = split_of(ex, guesses, value);
        candidate.score = split * (1 - 0.01 * pool_size_bits(ex->space, &candidate.config));
        if (split >= least)
            shortlist(list, &count, &candidate);
    }
    for (int i = 0; i < count; i++) {
        *out = list[i].config;
        if (!pool_affords(ex, &guesses->item[0], out))
            continue;
        explainer_values(ex, out, derived, value);
        if (split_of(ex, guesses, value) >= least)
            return true;
    }
    return false;
}

/* --- confirming --- */

static bool draw_for(struct explainer *ex, const struct guesses *guesses, const struct atom *near, bool fails,
                     int try, struct config *out)
{
    static const struct guesses none = {.count = 0};
    if (fails && try > CONFIRM_TRIES / 3) /* failures are rare, so a known one is the start */
        return pool_draw(ex, near ? guesses : &none, out);
    if (near && try % 2)
        return pool_beside(ex, near, out);
    if (!near && try % 2) /* near earlier runs, at seen sizes and whole tiles, where other faults may hide */
        return pool_draw(ex, &none, out);
    return pool_fresh(ex, near, out);
}

/* Returns whether the rule predicts `fails`, and whether the predicate `at` (-1: any) decides that. */
static bool tests(const struct explainer *ex, const struct guess *rule, int at, bool fails,
                  const int64_t *value)
{
    if (guess_holds(ex, rule, value) != fails)
        return false;
    return at < 0 || guess_holds_if(ex, rule, value, at, true) != guess_holds_if(ex, rule, value, at, false);
}

/* Of a few configurations that test the rule, picks the one on which most other rules disagree with it. Small
 * ones are preferred in three turns of four. */
bool query_confirm(struct explainer *ex, const struct guesses *guesses, int turn, struct config *out)
{
    const struct guess *rule = &guesses->item[0];
    const bool fails = turn % 2 == 0;
    const int at = turn % 4 < 2 || rule->count == 0 ? -1 : turn / 4 % rule->count;
    const struct atom *near = at < 0 ? NULL : &rule->atom[at];
    const int most_bits = turn % 8 < 6 ? CONFIRM_BITS : 1000;
    const bool derived = guesses_ask_derived(ex, guesses);
    struct candidate list[SHORT_LIST];
    int64_t value[MOST_QUANTITIES];
    int count = 0;
    for (int try = 0; try < CONFIRM_TRIES && count < CONFIRM_CHOICE; try++) {
        struct candidate candidate;
        if (!draw_for(ex, guesses, near, fails, try, &candidate.config))
            continue;
        explainer_values(ex, &candidate.config, derived, value);
        const int over = pool_size_bits(ex->space, &candidate.config) - most_bits;
        if (!tests(ex, rule, at, fails, value))
            continue;
        candidate.score = split_of(ex, guesses, value) - (over > 0 ? over : 0);
        shortlist(list, &count, &candidate);
    }
    for (int i = 0; i < count; i++) {
        *out = list[i].config;
        if (!pool_affords(ex, rule, out))
            continue;
        explainer_values(ex, out, derived, value);
        if (tests(ex, rule, at, fails, value))
            return true;
    }
    return false;
}

int query_learn(const struct explainer *ex, struct guesses *guesses, const struct config *config, bool fails)
{
    int64_t value[MOST_QUANTITIES];
    int alive = 0;
    explainer_values(ex, config, guesses_ask_derived(ex, guesses), value);
    for (int i = 0; i < guesses->count; i++) {
        struct guess *guess = &guesses->item[i];
        guess->alive = guess->alive && guess_holds(ex, guess, value) == fails;
        alive += guess->alive;
    }
    return alive;
}
