/* Branch and bound over boxes. A box is discarded if interval arithmetic proves that a constraint fails
 * everywhere in it. Otherwise it is halved; the lower half comes first, so that small configurations are
 * found. */
#include "feasible.h"

#include "gen/contract/constraint.h"

/* Bounds by axis: values for a range, indices for a list. */
struct box {
    int64_t low[PROBLEM_MAX_AXES], high[PROBLEM_MAX_AXES];
};

struct search {
    const struct space *space;
    struct config *config;
    int boxes;
};

static int64_t value_at(const struct domain *domain, int64_t place)
{
    return domain->value_count > 0 ? domain->value[place] : place;
}

static bool is_mentioned(const struct space *space, int axis)
{
    for (int i = 0; i < space->constraint_count; i++)
        if (constraint_mentions(space->constraint[i], axis))
            return true;
    return false;
}

/* Returns the least result of all constraints over the box. */
static enum constraint_bound bound_of(const struct space *space, const struct box *box)
{
    struct box values = *box;
    enum constraint_bound least = CONSTRAINT_HOLDS;
    for (int a = 0; space->problem->axes[a].name; a++)
        if (space->problem->axes[a].kind == AXIS_NUMBER) {
            values.low[a] = value_at(&space->domain[a], box->low[a]);
            values.high[a] = value_at(&space->domain[a], box->high[a]);
        }
    for (int i = 0; i < space->constraint_count && least != CONSTRAINT_FAILS; i++) {
        const enum constraint_bound bound = constraint_over(space->constraint[i], values.low, values.high);
        least = bound < least ? bound : least;
    }
    return least;
}

static int widest(const struct space *space, const struct box *box)
{
    int axis = -1;
    for (int a = 0; space->problem->axes[a].name; a++)
        if (box->high[a] > box->low[a] &&
            (axis < 0 || box->high[a] - box->low[a] > box->high[axis] - box->low[axis]))
            axis = a;
    return axis;
}

/* Takes the least corner of the box as the result. Returns whether it satisfies every constraint. */
static bool take_corner(const struct search *search, const struct box *box)
{
    const struct space *const space = search->space;
    struct config config = *search->config;
    for (int a = 0; space->problem->axes[a].name; a++)
        if (space->problem->axes[a].kind == AXIS_NUMBER)
            config.value[a] = value_at(&space->domain[a], box->low[a]);
    for (int i = 0; i < space->constraint_count; i++)
        if (!constraint_holds(space->constraint[i], &config))
            return false;
    *search->config = config;
    return true;
}

static enum feasibility look_into(struct search *search, const struct box *box)
{
    enum feasibility found = INFEASIBLE;
    if (++search->boxes > FEASIBLE_MOST_BOXES)
        return FEASIBILITY_OPEN;
    if (bound_of(search->space, box) == CONSTRAINT_FAILS)
        return INFEASIBLE;
    if (take_corner(search, box))
        return FEASIBLE;
    const int axis = widest(search->space, box);
    if (axis < 0)
        return INFEASIBLE;
    const int64_t middle = box->low[axis] + (box->high[axis] - box->low[axis]) / 2;
    for (int upper = 0; upper < 2; upper++) {
        struct box half = *box;
        *(upper ? &half.low[axis] : &half.high[axis]) = middle + upper;
        const enum feasibility answer = look_into(search, &half);
        if (answer == FEASIBLE)
            return FEASIBLE;
        found = answer == FEASIBILITY_OPEN ? FEASIBILITY_OPEN : found;
    }
    return found;
}

/* Finds the indices of a list whose values are within the bounds. Returns false if there are none. */
static bool bound_list(const struct domain *domain, int64_t low, int64_t high, struct box *box, int axis)
{
    box->low[axis] = domain->value_count;
    box->high[axis] = -1;
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] >= low && domain->value[i] <= high) {
            box->low[axis] = i < box->low[axis] ? i : box->low[axis];
            box->high[axis] = i;
        }
    return box->high[axis] >= 0;
}

/* Makes the box of all values within the bounds; extents may be 0 only with `empty`. Returns false if the
 * bounds leave an axis no value. */
static bool make_box(const struct space *space, const int64_t *low, const int64_t *high, bool empty,
                     struct box *box)
{
    bool some = true;
    *box = (struct box){{0}, {0}};
    for (int a = 0; space->problem->axes[a].name; a++) {
        const struct domain *const domain = &space->domain[a];
        const int64_t least = empty ? domain->low : domain_least(domain);
        if (space->problem->axes[a].kind != AXIS_NUMBER)
            continue;
        if (domain->value_count > 0) {
            some = bound_list(domain, low[a], high[a], box, a) && some;
        } else {
            box->low[a] = low[a] > least ? low[a] : least;
            box->high[a] = high[a] < domain->high ? high[a] : domain->high;
            some = some && box->low[a] <= box->high[a];
        }
        if (!is_mentioned(space, a))
            box->high[a] = box->low[a];
    }
    return some;
}

/* First looks for a configuration without empty extents; extents of 0 are used only if there is no other. */
enum feasibility feasible_find(const struct space *space, const int64_t *low, const int64_t *high,
                               struct config *config)
{
    struct search search = {.space = space, .config = config};
    enum feasibility found = INFEASIBLE;
    struct box box;
    for (int empty = 0; empty < 2 && found == INFEASIBLE; empty++)
        if (make_box(space, low, high, empty, &box))
            found = look_into(&search, &box);
    return found;
}
