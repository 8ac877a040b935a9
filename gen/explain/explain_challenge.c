/* What would contradict a condition that every failure is said to meet. Elsewhere drawn runs pass whether it is true or not, where
 * failures are rare; one that still fails lies beside those known: they are moved across one term, all else as it was, and made
 * larger, since an element that fails now and then is likelier met among many. */
#include "explain_internal.h"

#include "gen/contract/instantiate.h"

#include <stdlib.h>

enum { MOVES = 48, DOUBLINGS = 10, NEAREST = 6 };

/* Fails to hold for the sake of that atom alone. */
static bool is_across(const struct explainer *ex, const struct guess *rule, int at,
                      const struct config *config)
{
    int64_t value[MOST_QUANTITIES];
    explainer_values(ex, config, true, value);
    return !guess_holds(ex, rule, value) &&
           guess_holds_if(ex, rule, value, at, true) != guess_holds_if(ex, rule, value, at, false);
}

/* Axes that the atom does not ask of are doubled, by turns, as long as the caps allow it. */
static void grow(struct explainer *ex, const struct guess *rule, int at, struct config *config)
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
            draw_cost(&ex->costing, &larger, &cost) && is_across(ex, rule, at, &larger))
            *config = larger;
    }
}

/* How many failures are nearer to where the atom turns. */
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

/* One of the nearest to a threshold: what fails only now and then does so least far from it. */
static int pick_near(struct explainer *ex, const struct atom *atom)
{
    const int wanted = (int)pcg_below(ex->stream, NEAREST);
    int best = pool_random_failure(ex);
    for (int t = 0; t < ex->trials; t++)
        if (bit_of(ex->fails, t) && rank_of(ex, atom, t) == wanted)
            best = t;
    return best;
}

/* Each value of a choice as often as any other: what fails with one input class only is rare among what fails with all. */
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

bool challenge_pick(struct explainer *ex, const struct guess *rule, int at, bool grown, struct config *out)
{
    for (int i = 0; i < MOVES; i++) {
        *out = ex->config[pick_failure(ex, &rule->atom[at])];
        out->seed = draw_config_seed(ex->stream);
        pool_aim(ex, &rule->atom[at], out);
        if (draw_repair(ex->space, out, -1) == REPAIR_FAILED || !is_across(ex, rule, at, out))
            continue;
        if (grown)
            grow(ex, rule, at, out);
        if (pool_affords(ex, NULL, out))
            return true;
    }
    return false;
}
