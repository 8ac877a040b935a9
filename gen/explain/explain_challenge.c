/* What would contradict a condition that every failure is said to meet. Elsewhere drawn runs pass whether it is true or not, where
 * failures are rare; one that still fails lies beside those known: they are moved across one term, all else as it was, and made
 * larger, since an element that fails now and then is likelier met among many. */
#include "explain_internal.h"

#include "gen/contract/instantiate.h"

#include <stdlib.h>

enum { MOVES = 48, DOUBLINGS = 10, GROWN_EVERY = 2, CHOICE = 4 };

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
    const struct axis *axes = ex->space->problem->axes;
    struct cost cost;
    int count = 0;
    while (axes[count].name)
        count++;
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

/* Of a few failures, for a threshold, the one that is least far from it: what fails only now and then does so least far away. */
static int pick_failure(struct explainer *ex, const struct atom *atom)
{
    int best = pool_random_failure(ex);
    for (int i = 1; i < CHOICE && atom->kind == ATOM_ABOVE; i++) {
        const int other = pool_random_failure(ex);
        if (llabs(trial_values(ex, other)[atom->quantity] - atom->a) <
            llabs(trial_values(ex, best)[atom->quantity] - atom->a))
            best = other;
    }
    return best;
}

bool challenge_pick(struct explainer *ex, const struct guess *rule, int turn, struct config *out)
{
    if (rule->count == 0)
        return false;
    const int at = turn % rule->count;
    for (int i = 0; i < MOVES; i++) {
        *out = ex->config[pick_failure(ex, &rule->atom[at])];
        out->seed = draw_config_seed(ex->stream);
        pool_aim(ex, &rule->atom[at], out);
        if (draw_repair(ex->space, out, -1) == REPAIR_FAILED || !is_across(ex, rule, at, out))
            continue;
        if (turn / rule->count % GROWN_EVERY)
            grow(ex, rule, at, out);
        if (pool_affords(ex, NULL, out))
            return true;
    }
    return false;
}
