/* Decides about a tuple that no draw has: excluded by the contract, too expensive, or merely not drawn. */
#include "covering.h"
#include "feasible.h"

/* The search tries MEMBERS values of a class, the smallest first, among the first SCANNED values of the range
 * and the last NEAR. */
enum { MEMBERS = 8, SCANNED = 2048, NEAR = 256 };

struct deciding {
    const struct cover *cover;
    int strength;
    int factor[3], level[3];
    int axis[3], axes; /* axes of the factors, without repetition */
    int64_t low[PROBLEM_MAX_AXES], high[PROBLEM_MAX_AXES];
    struct costing *costing;
    bool legal; /* some configuration of the contract has the tuple */
};

static bool is_member(const struct deciding *d, int axis, int64_t value)
{
    for (int i = 0; i < d->strength; i++)
        if (d->cover->factor[d->factor[i]].axis == axis &&
            !cover_in(d->cover, d->factor[i], d->level[i], value))
            return false;
    return domain_contains(&d->cover->space->domain[axis], value);
}

static int scan(const struct deciding *d, int axis, int64_t from, int64_t to, int64_t *member, int count)
{
    for (int64_t v = from; v <= to && v <= d->high[axis] && count < MEMBERS; v++)
        if (is_member(d, axis, v) && (count == 0 || v > member[count - 1]))
            member[count++] = v;
    return count;
}

/* Lists members in ascending order: from the least value on, then seen values, then values near the largest
 * that the machine allows. */
static int find_members(const struct deciding *d, int axis, int64_t *member)
{
    const int64_t low = d->low[axis];
    int count = 0;
    if (d->cover->space->domain[axis].value_count > 0) {
        member[0] = low;
        return 1;
    }
    count = scan(d, axis, low, low + SCANNED, member, count);
    for (int i = 0; i < d->cover->seen->count && count < MEMBERS; i++) {
        const int64_t value = d->cover->seen->item[i].value[axis];
        count = scan(d, axis, value, value, member, count);
    }
    return scan(d, axis, d->cover->largest[axis] - NEAR, d->cover->largest[axis], member, count);
}

static void set_bounds(struct deciding *d)
{
    const struct space *const space = d->cover->space;
    for (int a = 0; space->problem->axes[a].name; a++) {
        d->low[a] = space->domain[a].low;
        d->high[a] = space->domain[a].high;
    }
    for (int i = 0; i < d->strength; i++) {
        int64_t low, high;
        const int axis = d->cover->factor[d->factor[i]].axis;
        cover_range(d->cover, d->factor[i], d->level[i], &low, &high);
        d->low[axis] = low > d->low[axis] ? low : d->low[axis];
        d->high[axis] = high < d->high[axis] ? high : d->high[axis];
        if (d->axes == 0 || d->axis[d->axes - 1] != axis)
            d->axis[d->axes++] = axis;
    }
}

/* Raises the lower bound of each axis to its least member, if that is known. Returns false if an axis of the
 * tuple has no member. */
static bool has_members(struct deciding *d)
{
    int64_t member[MEMBERS];
    for (int i = 0; i < d->axes; i++) {
        const int axis = d->axis[i];
        if (find_members(d, axis, member) == 0)
            return false;
        if (member[0] <= d->low[axis] + SCANNED)
            d->low[axis] = member[0];
    }
    return true;
}

static void begin(struct deciding *d, const struct tuples *tuples, int64_t at)
{
    *d = (struct deciding){.cover = tuples->cover, .strength = tuples->strength};
    tuples_of(tuples, at, d->factor, d->level);
    set_bounds(d);
}

bool covering_contradicts(const struct tuples *tuples, int64_t at)
{
    struct deciding d;
    begin(&d, tuples, at);
    return d.axes < d.strength && !has_members(&d);
}

/* Finds the smallest configuration of the contract within these bounds. Returns true if it fits the caps. */
static bool fits(struct deciding *d, const int64_t *low, const int64_t *high, struct config *config)
{
    struct cost cost;
    if (feasible_find(d->cover->space, low, high, config) != FEASIBLE)
        return false;
    for (int i = 0; i < d->axes; i++)
        if (!is_member(d, d->axis[i], config->value[d->axis[i]]))
            return false;
    d->legal = true;
    return draw_cost(d->costing, config, &cost);
}

/* Tries all combinations of the members of the axes from `at` on. */
static bool try_members(struct deciding *d, int at, int64_t *low, int64_t *high, struct config *config)
{
    int64_t member[MEMBERS];
    if (at == d->axes)
        return fits(d, low, high, config);
    const int axis = d->axis[at];
    const int64_t kept[] = {low[axis], high[axis]};
    const bool choice = d->cover->space->problem->axes[axis].kind != AXIS_NUMBER;
    const int count = find_members(d, axis, member);
    bool found = false;
    for (int i = 0; i < count && !found; i++) {
        if (choice)
            config->value[axis] = member[i];
        low[axis] = high[axis] = member[i];
        found = try_members(d, at + 1, low, high, config);
    }
    low[axis] = kept[0];
    high[axis] = kept[1];
    return found;
}

enum tuple_state covering_decide(const struct tuples *tuples, int64_t at, struct costing *costing,
                                 struct config *config)
{
    struct deciding d;
    struct config any;
    const uint64_t seed = config->seed;
    begin(&d, tuples, at);
    d.costing = costing;
    draw_least(d.cover->space, config);
    config->seed = seed;
    any = *config;
    if (!has_members(&d) || feasible_find(d.cover->space, d.low, d.high, &any) == INFEASIBLE)
        return TUPLE_CONTRACT;
    int64_t low[PROBLEM_MAX_AXES], high[PROBLEM_MAX_AXES];
    for (int a = 0; a < PROBLEM_MAX_AXES; a++) {
        low[a] = d.low[a];
        high[a] = d.high[a];
    }
    if (try_members(&d, 0, low, high, config))
        return TUPLE_COVERED;
    return d.legal ? TUPLE_CAPS : TUPLE_OPEN;
}
