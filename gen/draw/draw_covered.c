/* Counts the pairs of listed values that a whole unseen set covers. For each pair that is missing, a search
 * decides whether it is possible. */
#include "covering.h"

#include <stdlib.h>

static void count(struct coverage *coverage, enum tuple_state state)
{
    coverage->strength = 2;
    coverage->covered += state == TUPLE_COVERED;
    coverage->caps += state == TUPLE_CAPS;
    coverage->contract += state == TUPLE_CONTRACT;
    coverage->possible += state == TUPLE_COVERED || state == TUPLE_OPEN;
}

static void count_all(const struct tuples *tuples, struct costing *costing, struct lists_coverage *out)
{
    int factor[3], level[3];
    for (int64_t at = 0; at < tuples->count; at++) {
        enum tuple_state state = (enum tuple_state)tuples->state[at];
        struct config config = {.seed = 1};
        tuples_of(tuples, at, factor, level);
        const int listed =
            factor_is_listed(tuples->cover, factor[0]) + factor_is_listed(tuples->cover, factor[1]);
        if (listed == 0)
            continue;
        if (state != TUPLE_COVERED) {
            const enum tuple_state decided = covering_contradicts(tuples, at)
                                                 ? TUPLE_CONTRACT
                                                 : covering_decide(tuples, at, costing, &config);
            state = decided == TUPLE_COVERED ? TUPLE_OPEN : decided;
        }
        count(listed == 2 ? &out->pairs : &out->classes, state);
    }
}

int draw_lists_covered(const struct drawn_list *list, const struct space *space,
                       const struct config_list *seen, const struct draw_caps *caps,
                       struct lists_coverage *out)
{
    const bool scouts = drawn_scouts(list) > 0;
    const struct draw_caps small = draw_scout_caps(caps);
    struct drawing drawing = {
        .space = space, .seen = seen, .costing = costing_of(space, scouts ? &small : caps)};
    struct cover cover;
    struct tuples tuples;
    int64_t largest[PROBLEM_MAX_AXES] = {0};
    *out = (struct lists_coverage){.scouts = scouts};
    for (int i = 0; space->problem->axes[i].name; i++)
        largest[i] = domain_is_number(space, i) ? draw_axis_largest(&drawing, i) : 0;
    cover_open(&cover, space, seen, largest);
    if (tuples_open(&tuples, &cover, 2) != 0)
        return -1;
    for (int i = 0; i < list->count; i++)
        tuples_mark(&tuples, &list->item[i].config);
    count_all(&tuples, &drawing.costing, out);
    tuples_close(&tuples);
    return 0;
}
