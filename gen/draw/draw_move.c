#include "draw_internal.h"

#include <string.h>

#include "gen/contract/constraint.h"

bool draw_in_constraints(const struct space *space, const struct config *config)
{
    for (int i = 0; i < space->constraint_count; i++)
        if (!constraint_holds(space->constraint[i], config))
            return false;
    return true;
}

bool domain_is_number(const struct space *space, int axis)
{
    const struct domain *domain = &space->domain[axis];
    return space->problem->axes[axis].kind == AXIS_NUMBER && domain->low < domain->high;
}

/* --- repair --- */

enum { REPAIR_REACH = 512 }; /* values farther away do not belong to the same neighbourhood */

int64_t repair_distance(const struct space *space, const struct config *config, int axis, enum repair_way way,
                        int64_t reach, int64_t *value)
{
    const struct domain *domain = &space->domain[axis];
    const int last = way == REPAIR_DOWN ? -1 : 1;
    const int64_t from = config->value[axis];
    struct config moved = *config;
    for (int64_t distance = 1; distance < reach; distance++) {
        if (from - distance < domain->low && (last < 0 || from + distance > domain->high))
            break;
        for (int sign = -1; sign <= last; sign += 2) {
            moved.value[axis] = *value = from + sign * distance;
            if (domain_contains(domain, *value) && draw_in_constraints(space, &moved))
                return distance;
        }
    }
    return 0;
}

bool repair_may_help(const struct space *space, const struct config *config, int axis)
{
    for (int i = 0; i < space->constraint_count; i++)
        if (!constraint_mentions(space->constraint[i], axis) &&
            !constraint_holds(space->constraint[i], config))
            return false;
    return domain_is_number(space, axis);
}

int draw_repair(const struct space *space, struct config *config, int kept)
{
    if (draw_in_constraints(space, config))
        return kept;
    return draw_repair_beside(space, config, kept < 0 ? 0 : 1u << kept);
}

int draw_repair_beside(const struct space *space, struct config *config, unsigned held)
{
    int64_t nearest = REPAIR_REACH, value = 0, best = 0;
    int moved = REPAIR_FAILED;
    if (draw_in_constraints(space, config))
        return REPAIR_NONE;
    for (int i = 0; space->problem->axes[i].name; i++) {
        if (held >> i & 1 || !repair_may_help(space, config, i))
            continue;
        int64_t distance = repair_distance(space, config, i, REPAIR_EITHER, nearest, &value);
        if (distance > 0) {
            nearest = distance;
            best = value;
            moved = i;
        }
    }
    if (moved >= 0)
        config->value[moved] = best;
    return moved;
}

static int count_failing(const struct space *space, const struct config *config)
{
    int failing = 0;
    for (int i = 0; i < space->constraint_count; i++)
        failing += !constraint_holds(space->constraint[i], config);
    return failing;
}

/* Finds the nearest value of the axis, at a distance below `reach`, with which fewer constraints fail.
 * Returns its distance, or 0 if there is none. */
static int64_t better_distance(const struct space *space, const struct config *config, int axis,
                               int64_t reach, int64_t *value)
{
    const int failing = count_failing(space, config);
    for (int64_t distance = 1; distance < reach; distance++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct config moved = *config;
            moved.value[axis] = *value = config->value[axis] + sign * distance;
            if (domain_contains(&space->domain[axis], *value) && count_failing(space, &moved) < failing)
                return distance;
        }
    return 0;
}

bool draw_mend(const struct space *space, struct config *config, unsigned held)
{
    for (int step = 0; step <= space->constraint_count && !draw_in_constraints(space, config); step++) {
        int64_t nearest = REPAIR_REACH, value = 0, best = 0;
        int moved = -1;
        for (int i = 0; space->problem->axes[i].name; i++) {
            if (held >> i & 1 || !domain_is_number(space, i))
                continue;
            const int64_t distance = better_distance(space, config, i, nearest, &value);
            if (distance > 0) {
                nearest = distance;
                best = value;
                moved = i;
            }
        }
        if (moved < 0)
            return false;
        config->value[moved] = best;
    }
    return draw_in_constraints(space, config);
}

/* --- axes with the same list --- */

static bool have_same_list(const struct space *space, int a, int b)
{
    const struct domain *const x = &space->domain[a], *const y = &space->domain[b];
    if (space->problem->axes[a].kind != AXIS_NUMBER || space->problem->axes[b].kind != AXIS_NUMBER ||
        x->value_count < 2 || x->value_count != y->value_count)
        return false;
    return memcmp(x->value, y->value, (size_t)x->value_count * sizeof *x->value) == 0;
}

/* Returns the first axis before `axis` with the same list, or -1. */
static int find_partner(const struct space *space, int axis)
{
    for (int a = 0; a < axis; a++)
        if (have_same_list(space, a, axis))
            return a;
    return -1;
}

void draw_square(const struct space *space, struct config *config, unsigned held)
{
    for (int axis = 1; space->problem->axes[axis].name; axis++) {
        const int partner = find_partner(space, axis);
        if (partner < 0)
            continue;
        if (!(held >> axis & 1))
            config->value[axis] = config->value[partner];
        else if (!(held >> partner & 1))
            config->value[partner] = config->value[axis];
    }
}

bool draw_has_squares(const struct space *space)
{
    for (int axis = 1; space->problem->axes[axis].name; axis++)
        if (find_partner(space, axis) >= 0)
            return true;
    return false;
}

/* --- values of one axis --- */

void draw_least(const struct space *space, struct config *config)
{
    *config = (struct config){.problem = space->problem};
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        bool choice = space->problem->axes[i].kind == AXIS_CHOICE;
        config->value[i] = choice ? domain->value[0] : domain_least(domain);
    }
}

/* Draws an octave low*2^i first, then a value inside it. The last octave, cut off by `high`, is drawn in
 * proportion to its length. Only whole numbers are used, since log() may differ between machines. */
static int64_t log_uniform(int64_t low, int64_t high, struct pcg *stream)
{
    uint64_t octaves = 1;
    for (int64_t start = low; start <= high / 2; start *= 2)
        octaves++;
    for (;;) {
        int64_t start = low << pcg_below(stream, octaves);
        int64_t value = start + (int64_t)pcg_below(stream, (uint64_t)start);
        if (value <= high)
            return value;
    }
}

/* An extent that may be 0 is 0 in one draw of EMPTY_SHARE. */
enum { EMPTY_SHARE = 64 };

int64_t domain_random(const struct domain *domain, struct pcg *stream)
{
    if (domain->value_count > 0)
        return domain->value[pcg_below(stream, (uint64_t)domain->value_count)];
    if (domain->low == 0 && (domain->high == 0 || pcg_below(stream, EMPTY_SHARE) == 0))
        return 0;
    return log_uniform(domain_least(domain), domain->high, stream);
}

int64_t domain_next(const struct domain *domain, int64_t value, int sign)
{
    if (domain->value_count == 0)
        return domain_contains(domain, value + sign) ? value + sign : value;
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] == value && i + sign >= 0 && i + sign < domain->value_count)
            return domain->value[i + sign];
    return value;
}

/* Returns about half of `value`: never more, and less whenever possible. */
int64_t domain_shrink(const struct domain *domain, int64_t value, struct pcg *stream)
{
    if (domain->value_count > 0)
        return domain_next(domain, value, -1);
    int64_t least = value * 3 / 8, most = value * 5 / 8;
    int64_t smaller = least + (int64_t)pcg_below(stream, (uint64_t)(most - least + 1));
    return smaller > domain_least(domain) ? smaller : domain_least(domain);
}

static bool is_prime(int64_t n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return false;
    for (int64_t d = 3; d <= n / d; d += 2)
        if (n % d == 0)
            return false;
    return true;
}

static int64_t nearby_prime(const struct domain *domain, int64_t value, int sign)
{
    if (value > INT32_MAX) /* trial division suits extents only, not larger numbers */
        return value;
    for (int64_t v = value; domain_contains(domain, v); v += sign)
        if (is_prime(v))
            return v;
    return value;
}

static int64_t off_tile(const struct domain *domain, int64_t value, int sign, struct pcg *stream)
{
    if (domain->tile_count == 0)
        return value;
    int64_t tile = domain->tile[pcg_below(stream, (uint64_t)domain->tile_count)];
    int64_t tiles = value / tile;
    int64_t off = (tiles > 0 ? tiles : 1) * tile + sign;
    return domain_contains(domain, off) && off / 2 <= value ? off : value;
}

int64_t domain_decorate(const struct domain *domain, int64_t value, struct pcg *stream)
{
    const uint64_t how = pcg_below(stream, 3);
    const int sign = pcg_below(stream, 2) ? 1 : -1;
    if (domain->value_count > 0 || how == 0)
        return value;
    return how == 1 ? nearby_prime(domain, value, sign) : off_tile(domain, value, sign, stream);
}

/* --- input classes --- */

int64_t draw_sharpest(const struct space *space)
{
    const int axis = problem_input_axis(space->problem);
    int64_t sharpest = -1;
    int best = 0;
    for (int i = 0; axis >= 0 && i < space->domain[axis].value_count; i++) {
        const int64_t class = space->domain[axis].value[i];
        const int rank = space->problem->classes[class].discriminating;
        if (rank > 0 && (best == 0 || rank < best)) {
            sharpest = class;
            best = rank;
        }
    }
    return sharpest;
}

int64_t draw_input(const struct space *space, int axis, int64_t usual, struct pcg *stream)
{
    const struct domain *domain = &space->domain[axis];
    int64_t other[SPACE_MAX_VALUES], sharp[SPACE_MAX_VALUES];
    uint64_t others = 0, sharps = 0;
    for (int i = 0; i < domain->value_count; i++) {
        if (domain->value[i] != 0) /* the problem's first choice is the published class */
            other[others++] = domain->value[i];
        if (space->problem->classes[domain->value[i]].discriminating)
            sharp[sharps++] = domain->value[i];
    }
    const uint64_t part = pcg_below(stream, 8);
    if (part < 2 && others > 0)
        return other[pcg_below(stream, others)];
    if (part < 4 && sharps > 0)
        return sharp[pcg_below(stream, sharps)];
    return usual;
}
