/* Challenges a condition that is said to hold on every failure. Where failures are rare, random runs outside
 * it pass whether the condition is true or not. A counterexample is likeliest beside known failures, so these
 * are moved across one term with everything else unchanged. Some are also enlarged, since an element that
 * fails now and then is likelier to occur among many. */
#include "explain_internal.h"

#include "gen/contract/instantiate.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOVES = 48,
    DOUBLINGS = 10,
    NEAREST = 6,
    ENOUGH = 12,      /* moved failures wanted for each term */
    LEAST = 8,        /* needed for the rule to be reported */
    MOST = 36,        /* wanted if all of them may pass by chance */
    A_CONTROL_OF = 2, /* moved ones for each control, which stays on the rule's own side */
    LEAST_APART = 2,
    NEAR = 4
};
static const double LEAST_BITS = 5, SIGMAS = 2, GROWTH = 3;

struct cell {
    struct challenged *challenged;
    int at;
    bool apart;
};

/* Returns whether the rule fails to hold because of this predicate alone. */
static bool is_across(const struct explainer *ex, const struct guess *rule, int at,
                      const struct config *config)
{
    int64_t value[MOST_QUANTITIES];
    explainer_values(ex, config, true, value);
    return !guess_holds(ex, rule, value) &&
           guess_holds_if(ex, rule, value, at, true) != guess_holds_if(ex, rule, value, at, false);
}

static bool is_inside(const struct explainer *ex, const struct guess *rule, const struct config *config)
{
    int64_t value[MOST_QUANTITIES];
    explainer_values(ex, config, true, value);
    return guess_holds(ex, rule, value);
}

/* Doubles the axes in turn, while the caps allow it and the configuration stays on its side of the rule. */
static void grow(struct explainer *ex, const struct guess *rule, int at, bool across, struct config *config)
{
    const int count = problem_axis_count(ex->space->problem);
    struct cost cost;
    for (int i = 0, first = (int)pcg_below(ex->stream, (uint64_t)count); i < DOUBLINGS * count; i++) {
        const int axis = (first + i) % count;
        struct config larger = *config;
        if (!domain_is_number(ex->space, axis))
            continue;
        larger.value[axis] = pool_into_domain(&ex->space->domain[axis], 2 * config->value[axis]);
        if (draw_repair(ex->space, &larger, axis) != REPAIR_FAILED &&
            draw_cost(&ex->costing, &larger, &cost) &&
            (across ? is_across(ex, rule, at, &larger) : is_inside(ex, rule, &larger)))
            *config = larger;
    }
}

/* Returns how many failures are nearer to the threshold of the predicate. */
static int rank_of(const struct explainer *ex, const struct atom *atom, int trial)
{
    const int64_t from = llabs(trial_values(ex, trial)[atom->quantity] - atom->a);
    int nearer = 0;
    for (int t = 0; t < ex->trials; t++) {
        const int64_t other = llabs(trial_values(ex, t)[atom->quantity] - atom->a);
        nearer += bit_of(ex->fails, t) && (other < from || (other == from && t < trial));
    }
    return nearer;
}

/* Picks one of the failures nearest to a threshold. Moved just across it, they are likeliest to fail
 * still. */
static int pick_near(struct explainer *ex, const struct atom *atom)
{
    const int wanted = (int)pcg_below(ex->stream, NEAREST);
    int best = pool_random_failure(ex);
    for (int t = 0; t < ex->trials; t++)
        if (bit_of(ex->fails, t) && rank_of(ex, atom, t) == wanted)
            best = t;
    return best;
}

/* Picks a failure with a random value of a random choice. All values are equally likely: failures with one
 * input class only are rare among those that occur with all classes. */
static int pick_by_choice(struct explainer *ex)
{
    const struct axis *axes = ex->space->problem->axes;
    int choices = 0, axis = -1;
    for (int i = 0; axes[i].name; i++)
        if (axes[i].kind == AXIS_CHOICE && pcg_below(ex->stream, (uint64_t)++choices) == 0)
            axis = i;
    int trial = pool_random_failure(ex);
    if (axis < 0)
        return trial;
    const struct domain *domain = &ex->space->domain[axis];
    const int64_t value = domain->value[pcg_below(ex->stream, (uint64_t)domain->value_count)];
    for (int i = 0; i < ex->trials; i++) {
        const int t = (trial + i) % ex->trials;
        if (bit_of(ex->fails, t) && ex->config[t].value[axis] == value)
            return t;
    }
    return trial;
}

static int pick_failure(struct explainer *ex, const struct atom *atom)
{
    return atom->kind == ATOM_ABOVE && pcg_below(ex->stream, 2) ? pick_near(ex, atom) : pick_by_choice(ex);
}

/* Returns whether the trial belongs to the cell. Failures that the rule `apart` does not explain form cells
 * of their own, since they may fail with another probability. */
static bool is_of(const struct explainer *ex, const struct guess *apart, const struct cell *cell, int trial)
{
    return !cell->apart || (apart && !guess_holds(ex, apart, trial_values(ex, trial)));
}

static bool pick_moved(struct explainer *ex, const struct guess *rule, const struct guess *apart,
                       const struct cell *cell, struct config *out)
{
    for (int i = 0; i < MOVES; i++) {
        const int trial = pick_failure(ex, &rule->atom[cell->at]);
        *out = ex->config[trial];
        out->seed = draw_config_seed(ex->stream);
        pool_aim(ex, &rule->atom[cell->at], out);
        if (!is_of(ex, apart, cell, trial) || draw_repair(ex->space, out, -1) == REPAIR_FAILED ||
            !is_across(ex, rule, cell->at, out))
            continue;
        if (cell->challenged->moved % 2)
            grow(ex, rule, cell->at, true, out);
        if (pool_affords(ex, NULL, out))
            return true;
    }
    return false;
}

/* Picks a control: a failure like those that are moved, left where it is. */
static bool pick_control(struct explainer *ex, const struct guess *rule, const struct guess *apart,
                         const struct cell *cell, struct config *out)
{
    for (int i = 0; i < MOVES; i++) {
        const int trial = pick_failure(ex, &rule->atom[cell->at]);
        *out = ex->config[trial];
        if (!is_of(ex, apart, cell, trial) || !explainer_reseed(ex, out) || !is_inside(ex, rule, out))
            continue;
        if (cell->challenged->controls % 2)
            grow(ex, rule, cell->at, false, out);
        return true;
    }
    return false;
}

/* Returns, in bits, how unlikely it is that all moved ones pass if they fail as often as the controls. */
static double bits_of(const struct challenged *of)
{
    return -of->moved * log2(1 - (of->failed + 0.5) / (of->controls + 1.0));
}

/* Finds the cell with the fewest moved failures among those that need more. */
static bool next_cell(struct challenges *challenges, int terms, struct cell *next)
{
    *next = (struct cell){NULL, 0, false};
    for (int at = 0; at < terms; at++)
        for (int apart = 0; apart < 2; apart++) {
            struct challenged *const of = &challenges->term[at][apart];
            if (!of->over && (of->moved < ENOUGH || (of->moved < MOST && bits_of(of) < LEAST_BITS)) &&
                (!next->challenged || of->moved < next->challenged->moved))
                *next = (struct cell){of, at, apart};
        }
    return next->challenged != NULL;
}

/* Returns whether `apart` holds on enough failures to be no coincidence, and leaves some others. */
static bool has_apart(const struct explainer *ex, const struct guess *apart)
{
    int count[2] = {0};
    for (int t = 0; apart && t < ex->trials; t++)
        count[guess_holds(ex, apart, trial_values(ex, t))] += bit_of(ex->fails, t);
    return count[true] >= LEAST && count[false] >= LEAST_APART;
}

bool challenge_next(struct explainer *ex, const struct guess *rule, const struct guess *apart,
                    struct challenges *challenges, struct config *out)
{
    const bool has = has_apart(ex, apart);
    for (int at = 0; at < rule->count; at++)
        challenges->term[at][true].over = !has;
    for (struct cell cell = {NULL, 0, false}; next_cell(challenges, rule->count, &cell);) {
        challenges->asked = cell.challenged;
        challenges->asked_apart = cell.apart;
        challenges->control = cell.challenged->controls < cell.challenged->moved / A_CONTROL_OF &&
                              pick_control(ex, rule, apart, &cell, out);
        if (challenges->control || pick_moved(ex, rule, apart, &cell, out))
            return true;
        cell.challenged->over = true;
    }
    challenges->asked = NULL;
    return false;
}

void challenge_learn(struct explainer *ex, struct challenges *challenges, int result)
{
    struct challenged *const of = challenges->asked;
    challenges->asked = NULL;
    if (!of || result < 0)
        return;
    ex->challenge[ex->trials - 1] = (uint8_t)((challenges->control ? CHALLENGE_CONTROL : CHALLENGE_MOVED) |
                                              (challenges->asked_apart ? CHALLENGE_APART : 0));
    of->moved += !challenges->control;
    of->controls += challenges->control;
    of->failed += challenges->control && result == 1;
}

/* Counts one trial for every term. A control counts for each of them, as a known failure with other
 * inputs. */
static void recount_trial(const struct explainer *ex, const struct guess *rule, int trial,
                          struct challenges *challenges)
{
    const int64_t *value = trial_values(ex, trial);
    const bool apart = ex->challenge[trial] & CHALLENGE_APART, holds = guess_holds(ex, rule, value);
    for (int at = 0; at < rule->count; at++) {
        struct challenged *const of = &challenges->term[at][apart];
        const bool across = !holds && guess_holds_if(ex, rule, value, at, true);
        of->moved += ex->challenge[trial] & CHALLENGE_MOVED && across;
        of->controls += ex->challenge[trial] & CHALLENGE_CONTROL && holds;
        of->failed += ex->challenge[trial] & CHALLENGE_CONTROL && holds && bit_of(ex->fails, trial);
    }
}

void challenges_recount(const struct explainer *ex, const struct guess *rule, const struct guess *apart,
                        struct challenges *challenges)
{
    const bool has = has_apart(ex, apart);
    *challenges = (struct challenges){.asked = NULL};
    for (int t = 0; t < ex->trials; t++)
        if (ex->challenge[t])
            recount_trial(ex, rule, t, challenges);
    for (int at = 0; at < rule->count; at++)
        challenges->term[at][true].over = !has;
}

bool challenge_suffices(const struct challenges *challenges, int term)
{
    bool suffices = true;
    for (int apart = 0; apart < 2; apart++) {
        const struct challenged *const of = &challenges->term[term][apart];
        suffices = suffices && (of->over || of->moved >= MOST || /* no more are wanted */
                                (of->moved >= LEAST && bits_of(of) >= LEAST_BITS));
    }
    return suffices;
}

/* --- thresholds --- */

/* Returns whether the value is within a factor of NEAR of the threshold, on either side. The least values of
 * derived sizes and paddings are 0, so both numbers are counted from 1. */
static bool is_near(const struct atom *atom, int64_t value)
{
    const int64_t a = atom->a + 1, v = value + 1;
    return v > a / NEAR && v / NEAR <= a;
}

bool threshold_is_sharp(const struct explainer *ex, const struct guess *rule, int term)
{
    const struct atom *const atom = &rule->atom[term];
    int beyond = 0, inside[2] = {0}, failed[2] = {0}; /* far, near */
    if (atom->kind != ATOM_ABOVE)
        return true;
    for (int t = 0; t < ex->trials; t++) {
        const int64_t *value = trial_values(ex, t);
        const bool holds = guess_holds(ex, rule, value), near = is_near(atom, value[atom->quantity]);
        beyond += near && !holds && guess_holds_if(ex, rule, value, term, true);
        inside[near] += holds;
        failed[near] += holds && bit_of(ex->fails, t);
    }
    const double rate = (failed[true] + 0.5) / (inside[true] + 1.0);
    const double far = (failed[false] + 0.5) / (inside[false] + 1.0);
    const double expected = inside[true] * far, deviation = sqrt(expected * (1 - far));
    const bool grows = failed[true] + SIGMAS * deviation < expected;
    /* If larger configurations are likelier to fail, those just beyond the threshold may fail more rarely
     * than those just before it. */
    return -beyond * log2(1 - (grows ? rate / GROWTH : rate)) >= LEAST_BITS;
}
