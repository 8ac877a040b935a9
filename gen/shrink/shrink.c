#include "shrink.h"

#include <stdlib.h>

#include "gen/contract/constraint.h"
#include "gen/draw/move.h"

/* The result of one configuration. */
struct trial {
    struct config config;
    bool fails;
};

struct shrinking {
    const struct space *space;
    int axes; /* number of axes of the problem; index `axes` stands for the seed */
    shrink_fails ask;
    void *data;
    struct config best;  /* the simplest configuration so far that fails */
    struct trial *trial; /* a few dozen, searched from end to end */
    int trials, runs, most;
    bool ended; /* no more runs are possible: unknown results remain unknown */
};

/* A set of axes that one step changes together, one bit each. */
typedef unsigned axis_mask;

static bool is_number(const struct shrinking *s, int axis)
{
    return axis < s->axes && s->space->problem->axes[axis].kind == AXIS_NUMBER;
}

static int64_t least_of(const struct shrinking *s, int axis)
{
    const struct domain *domain = &s->space->domain[axis];
    return is_number(s, axis) ? domain->low : domain->value[0];
}

/* Returns whether the axis is at its least. Seed 0 is as simple as seed 1, since a line without a seed has
 * seed 0. */
static bool is_least(const struct shrinking *s, int axis)
{
    return axis == s->axes ? s->best.seed <= 1 : s->best.value[axis] == least_of(s, axis);
}

/* --- one run --- */

static const struct trial *recall(const struct shrinking *s, const struct config *config)
{
    for (int i = s->trials - 1; i >= 0; i--)
        if (config_equal(&s->trial[i].config, config))
            return &s->trial[i];
    return NULL;
}

static bool fails(struct shrinking *s, const struct config *config)
{
    const struct trial *known = recall(s, config);
    if (known)
        return known->fails;
    s->ended = s->ended || s->runs == s->most;
    if (s->ended)
        return false;
    s->runs++;
    const int answer = s->ask(s->data, config);
    s->ended = answer < 0;
    if (!s->ended)
        s->trial[s->trials++] = (struct trial){*config, answer > 0};
    return answer > 0;
}

/* --- constraints that couple axes: heads % kv_heads == 0 --- */

enum {
    REPAIR_REACH = 4097, /* above every value of a coupled axis in any published contract */
    SNAP_REACH = 64      /* greatest distance from one legal value to the next */
};

/* Finds the greatest legal value up to `most`. Returns false if there is none. */
static bool value_up_to(const struct domain *domain, int64_t most, int64_t *value)
{
    *value = most;
    for (int i = 0; i < domain->value_count && domain->value[i] <= most; i++)
        *value = domain->value[i];
    return most >= domain->low;
}

/* Repairs a step that the constraints forbid, by lowering one more axis: the one that must move least.
 * Otherwise heads=32 kv_heads=8 would never reach 1 and 1. */
static bool repair(const struct shrinking *s, struct config *config, axis_mask kept)
{
    int64_t nearest = REPAIR_REACH, value;
    struct config best = *config;
    if (space_contains(s->space, config, NULL))
        return true;
    for (int i = 0; i < s->axes; i++) {
        const bool may = !(kept & 1u << i) && repair_may_help(s->space, config, i);
        const int64_t distance = may ? repair_distance(s->space, config, i, REPAIR_DOWN, nearest, &value) : 0;
        if (distance > 0) {
            nearest = distance;
            best = *config;
            best.value[i] = value;
        }
    }
    *config = best;
    return space_contains(s->space, config, NULL);
}

/* --- steps: each makes `best` simpler, or leaves it --- */

static bool take(struct shrinking *s, const struct config *candidate)
{
    if (!fails(s, candidate))
        return false;
    s->best = *candidate;
    return true;
}

static void set_axes(const struct shrinking *s, struct config *config, axis_mask axes, int64_t value)
{
    for (int i = 0; i < s->axes; i++)
        if (axes & 1u << i)
            config->value[i] = value;
}

static bool in_domains(const struct shrinking *s, axis_mask axes, int64_t value)
{
    for (int i = 0; i < s->axes; i++)
        if (axes & 1u << i && !domain_contains(&s->space->domain[i], value))
            return false;
    return true;
}

/* Sets `axes` to `value`. If neither that nor a repair of it is legal (k % 2 == 0), sets them to the next
 * legal value below. */
static bool step(struct shrinking *s, axis_mask axes, int64_t value)
{
    for (int64_t at = value; at > value - SNAP_REACH && in_domains(s, axes, at); at--) {
        struct config candidate = s->best;
        set_axes(s, &candidate, axes, at);
        if (config_equal(&candidate, &s->best))
            return false;
        if (repair(s, &candidate, axes))
            return take(s, &candidate);
    }
    return false;
}

static bool step_to_least(struct shrinking *s, const int *axis, int count)
{
    struct config candidate = s->best;
    axis_mask kept = 0;
    for (int i = 0; i < count; i++) {
        kept |= 1u << axis[i];
        if (axis[i] == s->axes)
            candidate.seed = 1;
        else
            candidate.value[axis[i]] = least_of(s, axis[i]);
    }
    return config_equal(&candidate, &s->best) || (repair(s, &candidate, kept) && take(s, &candidate));
}

/* Lowers all axes at once, or else half of them, then a quarter. Most axes do not matter for a failure, so
 * that each of these costs a fraction of a run. */
static void lower_many(struct shrinking *s, const int *axis, int count)
{
    if (count == 0 || step_to_least(s, axis, count) || count == 1)
        return;
    lower_many(s, axis, count / 2);
    lower_many(s, axis + count / 2, count - count / 2);
}

/* --- numbers --- */

/* Returns the value of `axes`, which is the same for all of them. */
static int64_t value_of(const struct shrinking *s, axis_mask axes)
{
    return s->best.value[__builtin_ctz(axes)];
}

/* Lowers the value by powers of two, the largest first. If everything above a threshold fails, this ends
 * exactly there. Each step keeps the residues modulo all smaller powers, so that k % 64 == 17 ends at 17. */
static bool descend(struct shrinking *s, axis_mask axes, int64_t first)
{
    bool any = false;
    for (int64_t by = first; by > 0; by /= 2)
        any = (value_of(s, axes) > by && step(s, axes, value_of(s, axes) - by)) || any;
    return any;
}

/* Returns the greatest power of two below `value`, or 0 if there is none. */
static int64_t power_below(int64_t value)
{
    int64_t power = value > 1;
    while (power > 0 && power < value - power)
        power *= 2;
    return power;
}

/* Divides the value as often as the result still fails. */
static void divide(struct shrinking *s, axis_mask axes, int by)
{
    while (by == 2 || value_of(s, axes) % by == 0)
        if (!step(s, axes, value_of(s, axes) / by))
            return;
}

/* Divides the value as long as the result fails. If one less also fails, then searches the threshold between
 * the last half, which passes, and the value. */
static void settle(struct shrinking *s, axis_mask axes)
{
    divide(s, axes, 2);
    divide(s, axes, 3);
    divide(s, axes, 5);
    divide(s, axes, 7);
    if (step(s, axes, value_of(s, axes) - 1))
        descend(s, axes, power_below(value_of(s, axes) / 2));
}

/* Tries the values of a list, which is short, from its least upward and takes the first that fails. */
static bool settle_list(struct shrinking *s, int axis)
{
    const struct domain *domain = &s->space->domain[axis];
    for (int i = 0; i < domain->value_count && domain->value[i] != s->best.value[axis]; i++)
        if (step(s, 1u << axis, domain->value[i]))
            return true;
    return false;
}

static void settle_axis(struct shrinking *s, int axis)
{
    if (s->space->domain[axis].value_count > 0)
        settle_list(s, axis);
    else if (!is_least(s, axis))
        settle(s, 1u << axis);
}

/* Lowers axes of the same value together. If m == n == k fails, none of them can move alone. */
static void settle_equals(struct shrinking *s)
{
    for (int i = 0; i < s->axes; i++) {
        axis_mask equals = 0;
        for (int k = 0; k < s->axes; k++)
            if (is_number(s, k) && s->best.value[k] == s->best.value[i] && !is_least(s, k))
                equals |= 1u << k;
        if (!(equals >> i & 1) || equals >> i == 1 || (equals & ((1u << i) - 1)))
            continue; /* alone, or not the first of its group */
        if (step(s, equals, least_of(s, i)) || step(s, equals, value_of(s, equals) / 2) ||
            step(s, equals, value_of(s, equals) - 1))
            settle(s, equals);
    }
}

/* --- the proof --- */

/* Tries the steps that a minimal number must withstand: its least, half of it, multiples of tiles below it,
 * and one less. */
static bool improve_number(struct shrinking *s, int axis)
{
    const struct domain *domain = &s->space->domain[axis];
    const int64_t value = s->best.value[axis];
    int64_t next[SPACE_MAX_TILES + 3] = {domain->low, value / 2, value - 1}, to;
    int count = 3;
    for (int i = 0; i < domain->tile_count; i++)
        next[count++] = (value - 1) / domain->tile[i] * domain->tile[i];
    for (int i = 0; i < count; i++)
        if (value_up_to(domain, next[i], &to) && to < value && step(s, 1u << axis, to)) {
            settle_axis(s, axis);
            if (domain->value_count == 0) /* not tile by tile, which would use up all runs */
                descend(s, 1u << axis, power_below(s->best.value[axis]));
            return true;
        }
    return false;
}

/* Tries every remaining step once. Returns false if none of them still fails. */
static bool improve(struct shrinking *s)
{
    bool any = false;
    for (int i = 0; i < s->axes; i++)
        if (!is_number(s, i))
            any = settle_list(s, i) || any;
    for (int i = 0; i < s->axes; i++)
        if (is_number(s, i))
            any = improve_number(s, i) || any;
    if (!is_least(s, s->axes))
        any = step_to_least(s, &s->axes, 1) || any;
    return any;
}

/* Makes larger steps than a minimal configuration must withstand, while there are runs: the failing values
 * need not form an interval. */
static bool jump(struct shrinking *s)
{
    bool any = false;
    for (int i = 0; i < s->axes && !s->ended; i++)
        if (is_number(s, i) && s->space->domain[i].value_count == 0 && !is_least(s, i))
            any = descend(s, 1u << i, power_below(s->best.value[i])) || any;
    return any;
}

static void prove(struct shrinking *s)
{
    while (improve(s) && !s->ended)
        ;
}

/* Lists the axes that can still be lowered, the most expensive first. Extents multiply, so that is the one
 * with the largest quotient of value and least. Choices and the seed cost nothing and come last. */
static int order_axes(const struct shrinking *s, int *axis)
{
    double weight[PROBLEM_MAX_AXES + 1];
    int count = 0;
    for (int i = 0; i <= s->axes; i++) {
        int at = count;
        if (is_least(s, i))
            continue;
        const double mine = is_number(s, i) ? (double)s->best.value[i] / (double)(least_of(s, i) + 1) : 0;
        for (; at > 0 && weight[at - 1] < mine; at--) {
            weight[at] = weight[at - 1];
            axis[at] = axis[at - 1];
        }
        weight[at] = mine;
        axis[at] = i;
        count++;
    }
    return count;
}

int shrink(const struct space *space, const struct config *from, int runs, shrink_fails ask, void *data,
           struct shrunk *out)
{
    struct shrinking s = {.space = space,
                          .axes = problem_axis_count(space->problem),
                          .ask = ask,
                          .data = data,
                          .best = *from,
                          .most = runs > 0 ? runs : 0};
    int axis[PROBLEM_MAX_AXES + 1];
    s.trial = calloc((size_t)s.most + 1, sizeof *s.trial);
    *out = (struct shrunk){.config = *from};
    if (!s.trial)
        return -1;
    const int count = order_axes(&s, axis);
    lower_many(&s, axis, count);
    settle_equals(&s);
    for (int i = 0; i < count; i++)
        if (is_number(&s, axis[i]))
            settle_axis(&s, axis[i]);
    do {
        prove(&s);
        out->minimal = !s.ended;
    } while (out->minimal && jump(&s));
    out->config = s.best;
    out->runs = s.runs;
    free(s.trial);
    return 0;
}
