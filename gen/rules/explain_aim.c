/* Moves a configuration to the boundary of a predicate: its quantity gets, or nearly gets, a value that
 * distinguishes the predicate from similar ones. */
#include "explain_internal.h"
#include "gen/contract/instantiate.h"

#include <stdlib.h>

enum { APPROACHES = 4, RARE_TRIES = 3 };

static uint64_t below(struct explainer *ex, uint64_t bound)
{
    return pcg_below(ex->stream, bound);
}

static int64_t clamp(const struct domain *domain, int64_t value)
{
    return value < domain->low ? domain->low : value > domain->high ? domain->high : value;
}

/* Returns the nearest value of the list at or above `value`, or the last. */
int64_t pool_into_domain(const struct domain *domain, int64_t value)
{
    if (domain->value_count == 0)
        return clamp(domain, value);
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] >= value)
            return domain->value[i];
    return domain->value[domain->value_count - 1];
}

void pool_set_random(struct explainer *ex, struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    if (ex->space->problem->axes[axis].kind == AXIS_NUMBER)
        config->value[axis] = domain_random(domain, ex->stream);
    else
        config->value[axis] = domain->value[below(ex, (uint64_t)domain->value_count)];
}

int64_t pool_random_up_to(struct explainer *ex, int64_t most)
{
    const struct domain domain = {.low = 1, .high = most > 1 ? most : 1};
    return domain_random(&domain, ex->stream);
}

/* Returns a value that distinguishes a remainder from similar predicates: on both sides of its boundary, and
 * where smaller or larger moduli give another result. */
static int64_t target_remainder(struct explainer *ex, const struct atom *atom, int64_t value)
{
    /* the last two are multiples of many other moduli, too */
    static const int factor[] = {1, 1, 1, 2, 3, 4, 30, 84};
    const int64_t m = atom->a * factor[below(ex, 8)];
    const int64_t base = value / m * m;
    switch (below(ex, 6)) {
    case 0: return base + atom->b;
    case 1: return base + m + atom->b;
    case 2: return base + atom->b + (below(ex, 2) ? 1 : -1);
    case 3: return base + m / 2 + atom->b;
    case 4: return value / atom->a * atom->a + (int64_t)below(ex, (uint64_t)atom->a);
    default: { /* agrees with the predicate only modulo a divisor */
        const int64_t part = atom->a % 3 == 0 && below(ex, 2) ? atom->a / 3 : atom->a / 2;
        return part > 1 ? value / part * part + atom->b % part : value + 1;
    }
    }
}

/* Returns a power of two near the value, or a number that resembles one in its remainders or in its bits. */
static int64_t target_power(struct explainer *ex, int64_t value)
{
    const int64_t power = (int64_t)1 << (63 - __builtin_clzll((unsigned long long)value | 1));
    switch (below(ex, 5)) {
    case 0: return power;
    case 1: return 2 * power;
    case 2: return power + power / 2;
    case 3: return power + power / 4;
    default: return power + (below(ex, 2) ? 1 : -1);
    }
}

/* Returns a value on either side of the beginning of a range of remainders, or with any remainder, since most
 * remainders have no run yet. */
static int64_t target_residues(struct explainer *ex, const struct atom *atom, int64_t value)
{
    const int64_t m = atom->a, base = value / m * m;
    const bool range = atom->kind == ATOM_RESIDUE_ABOVE;
    switch (below(ex, 6)) {
    case 0: return base + (range ? atom->b : (int64_t)below(ex, (uint64_t)m));
    case 1: return base + (range ? atom->b + 1 : (int64_t)below(ex, (uint64_t)m));
    case 2: return base + m * (int64_t)below(ex, 3) + (int64_t)below(ex, (uint64_t)m);
    case 3: return (int64_t)below(ex, (uint64_t)m); /* within the first period */
    default: return base + (int64_t)below(ex, (uint64_t)m);
    }
}

/* Returns a value of the set, or between or beside its values, preferably one that no run has had. */
static int64_t target_small(struct explainer *ex, const struct atom *atom)
{
    const int most = 64 - __builtin_clzll((unsigned long long)atom->a | 1);
    int64_t value = 0;
    for (int i = 0; i < RARE_TRIES; i++) {
        bool had = false;
        value = (int64_t)below(ex, (uint64_t)most + 3);
        for (int t = 0; t < ex->trials && !had; t++)
            had = trial_values(ex, t)[atom->quantity] == value;
        if (!had)
            break;
    }
    return value;
}

static int64_t target_value(struct explainer *ex, const struct atom *atom, int64_t value)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    if (atom->kind == ATOM_RESIDUE_ABOVE || atom->kind == ATOM_RESIDUE_SET)
        return target_residues(ex, atom, value);
    if (atom->kind == ATOM_SMALL)
        return target_small(ex, atom);
    if (atom->kind == ATOM_REMAINDER)
        return target_remainder(ex, atom, value);
    if (atom->kind == ATOM_POWER)
        return target_power(ex, value);
    if (atom->kind == ATOM_SET)
        return quantity->listed[below(ex, (uint64_t)quantity->listed_count)];
    if (atom->kind == ATOM_SEEN)
        value = quantity->seen[below(ex, (uint64_t)quantity->seen_count)];
    else
        value = atom->a;
    switch (below(ex, 8)) {
    case 0: return value - 1;
    case 1:
    case 2: return value + 1;
    case 3: return value - (int64_t)below(ex, (uint64_t)(value / 8 + 2));
    case 4: return value + (int64_t)below(ex, (uint64_t)(value / 8 + 2));
    case 5: return pool_random_up_to(ex, value);
    default: return value;
    }
}

/* Returns the product of all factors except one. */
static int64_t others(const struct quantity *quantity, const struct config *config, int at)
{
    int64_t product = 1;
    for (int i = 0; i < quantity->count; i++)
        if (i != at && __builtin_mul_overflow(product, config->value[quantity->axis[i]], &product))
            return INT64_MAX;
    return product;
}

/* Makes the other factors as small as the range of this axis permits, so that the product can be met
 * exactly. */
static void set_others_least(struct explainer *ex, const struct quantity *quantity, int64_t value, int at,
                             struct config *config)
{
    const int64_t high = ex->space->domain[quantity->axis[at]].high;
    for (int i = 0; i < quantity->count; i++)
        if (i != at)
            config->value[quantity->axis[i]] = pool_into_domain(&ex->space->domain[quantity->axis[i]], 1);
    for (int i = 0; i < quantity->count; i++) {
        const int axis = quantity->axis[i];
        const int64_t rest = others(quantity, config, at);
        if (i != at && value / rest > high)
            config->value[axis] = pool_into_domain(&ex->space->domain[axis], value / rest / high + 1);
    }
}

static int64_t limited_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 2 : product;
}

/* Returns the number of rows of which the last begins at the offset, or before it. */
static int64_t rows_before(int64_t offset, int64_t pitch)
{
    const int64_t rows = offset / (pitch > 0 ? pitch : 1);
    return rows < INT64_MAX / 2 ? rows + 1 : rows;
}

/* Moves the factor, or the tiled axis to some place in its last tile. */
static void move_tiled(struct explainer *ex, const struct quantity *quantity, int64_t value,
                       struct config *config)
{
    const int tiled = quantity->axis[0], factor = quantity->axis[1];
    const int64_t tile = quantity->tile, tiles = (config->value[tiled] + tile - 1) / tile;
    const int64_t rows = config->value[factor] > 0 ? config->value[factor] : 1;
    if (below(ex, 2)) {
        const int64_t moved = value / (tiles > 0 ? tiles : 1) + (int64_t)below(ex, 2);
        config->value[factor] = pool_into_domain(&ex->space->domain[factor], moved);
        return;
    }
    const int64_t wanted = value / rows + (int64_t)below(ex, 2);
    const int64_t moved = limited_product(wanted, tile) - (int64_t)below(ex, (uint64_t)tile);
    config->value[tiled] = pool_into_domain(&ex->space->domain[tiled], moved);
}

/* Moves one of the tiled axes so that their tiles multiply to the value, or nearly. */
static void move_grid(struct explainer *ex, const struct quantity *grid, int64_t value, struct config *config)
{
    const bool first = below(ex, 2);
    const int64_t tile = first ? grid->tile : grid->other_tile;
    const int64_t other = first ? grid->other_tile : grid->tile;
    const int axis = grid->axis[first ? 0 : 1], against = grid->axis[first ? 1 : 0];
    const int64_t beside = (config->value[against] + other - 1) / other;
    const int64_t wanted = value / (beside > 0 ? beside : 1) + (int64_t)below(ex, 2);
    const int64_t moved = limited_product(wanted, tile) - (int64_t)below(ex, (uint64_t)tile);
    config->value[axis] = pool_into_domain(&ex->space->domain[axis], moved);
}

/* Moves one axis so that the quantity gets, or nearly gets, the value. */
static void move_to(struct explainer *ex, const struct quantity *quantity, int64_t value,
                    struct config *config)
{
    const int at = quantity->kind == QUANTITY_PRODUCT ? (int)below(ex, (uint64_t)quantity->count) : 0;
    const int axis = quantity->axis[at];
    const int64_t a = config->value[axis];
    const int64_t b = quantity->count > 1 ? config->value[quantity->axis[1]] : quantity->tile;
    int64_t moved = value;
    if (quantity->kind == QUANTITY_TILED_PRODUCT) {
        move_tiled(ex, quantity, value, config);
        return;
    }
    if (quantity->kind == QUANTITY_GRID) {
        move_grid(ex, quantity, value, config);
        return;
    }
    if (quantity->kind == QUANTITY_PRODUCT && quantity->count > 1 && below(ex, 2))
        set_others_least(ex, quantity, value, at, config);
    const int64_t rest = quantity->kind == QUANTITY_PRODUCT ? others(quantity, config, at) : 1;
    if (quantity->kind == QUANTITY_PRODUCT && quantity->count > 1)
        moved = value / (rest > 0 ? rest : 1) + (int64_t)below(ex, 2);
    else if (quantity->kind == QUANTITY_RATIO)
        moved = limited_product(value, b) + (b > 1 && below(ex, 2) ? (int64_t)below(ex, (uint64_t)b) : 0);
    else if (quantity->kind == QUANTITY_OFFSET)
        moved = rows_before(value, b) + (int64_t)below(ex, 2);
    else if (quantity->kind == QUANTITY_ORDER)
        moved = value < ORDER_SAME   ? b - 1 - (int64_t)below(ex, (uint64_t)(b / 2 + 1))
                : value > ORDER_SAME ? b + 1 + (int64_t)below(ex, (uint64_t)(b / 2 + 1))
                                     : b;
    else if (quantity->kind == QUANTITY_GCD)
        moved = value > 0 ? (a / value + (int64_t)below(ex, 2)) * value : a;
    else if (quantity->kind == QUANTITY_REMAINDER)
        moved = b > 0 ? a / b * b + value : a;
    else if (quantity->kind == QUANTITY_CEILING || quantity->kind == QUANTITY_TILES)
        moved = limited_product(value, b) - (b > 1 ? (int64_t)below(ex, (uint64_t)b) : 0);
    config->value[axis] = pool_into_domain(&ex->space->domain[axis], moved);
}

/* Brings a derived size nearer to a value. No formula leads there, so a few random moves of the axes and the
 * seed are tried. Moves that increase the distance are undone. */
static void approach(struct explainer *ex, const struct quantity *quantity, int64_t from, int64_t value,
                     struct config *config)
{
    for (int i = 0; i < APPROACHES && from != value; i++) {
        struct config moved = *config;
        const int axis = quantity->axis[below(ex, (uint64_t)quantity->count)];
        const struct domain *domain = &ex->space->domain[axis];
        const bool range = domain_is_number(ex->space, axis) && domain->value_count == 0;
        /* the seed does not change it */
        const bool fixed = ex->space->problem->derived[quantity->derived].of_axes;
        const uint64_t how = range ? below(ex, fixed ? 3 : 5) : 3 + below(ex, 2);
        if (how < 2)
            moved.value[axis] = pool_into_domain(domain, moved.value[axis] + value - from);
        else if (how == 2)
            moved.value[axis] =
                pool_into_domain(domain, from > 0 ? limited_product(moved.value[axis], value) / from : value);
        else if (how == 3 && !fixed)
            moved.seed = draw_config_seed(ex->stream);
        else
            pool_set_random(ex, &moved, axis);
        const int64_t to = quantity_value(quantity, &moved);
        if (llabs(to - value) <= llabs(from - value)) {
            *config = moved;
            from = to;
        }
    }
}

/* Moves the axis to the derived size, or the size to the axis; for two sizes, the first to the second. */
static void approach_axis(struct explainer *ex, const struct quantity *order, int64_t value,
                          struct config *config)
{
    const bool two = order->second >= 0;
    const int64_t size = config_derived(config, order->derived);
    const int64_t other = two ? config_derived(config, order->second) : config->value[order->against];
    const int64_t apart = value == ORDER_SAME ? 0 : 1 + (int64_t)below(ex, (uint64_t)(other / 2 + 1));
    const int64_t sign = value < ORDER_SAME ? -1 : 1; /* sign of size minus axis */
    struct quantity derived = *order;
    derived.kind = QUANTITY_DERIVED;
    if (!two && below(ex, 2))
        config->value[order->against] =
            pool_into_domain(&ex->space->domain[order->against], size - sign * apart);
    else
        approach(ex, &derived, size, other + sign * apart, config);
}

/* Returns the value of a choice that has the fewest runs. A set of choices makes a claim about each value,
 * which needs runs with each. */
static int64_t rarest_choice(const struct explainer *ex, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    int64_t rarest = domain->value[0];
    int least = ex->trials + 1;
    for (int i = 0; i < domain->value_count; i++) {
        int runs = 0;
        for (int t = 0; t < ex->trials; t++)
            runs += ex->config[t].value[axis] == domain->value[i];
        if (runs < least) {
            least = runs;
            rarest = domain->value[i];
        }
    }
    return rarest;
}

void pool_aim(struct explainer *ex, const struct atom *atom, struct config *config)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    if (quantity->kind == QUANTITY_CHOICE) {
        if (atom->kind == ATOM_EQUAL)
            config->value[quantity->axis[0]] = atom->a;
        if (atom->kind == ATOM_SET && below(ex, 2))
            config->value[quantity->axis[0]] = rarest_choice(ex, quantity->axis[0]);
        else if (atom->kind != ATOM_EQUAL || below(ex, 2))
            pool_set_random(ex, config, quantity->axis[0]);
        return;
    }
    if (quantity->count > 1 && below(ex, 3) == 0) /* another divisor, or other proportions of the product */
        pool_set_random(ex, config, quantity->axis[1 + below(ex, (uint64_t)quantity->count - 1)]);
    const int64_t from = quantity_value(quantity, config), value = target_value(ex, atom, from);
    if (quantity->kind == QUANTITY_SIZE_ORDER)
        approach_axis(ex, quantity, value, config);
    else if (quantity_is_drawn(quantity))
        approach(ex, quantity, from, value, config);
    else
        move_to(ex, quantity, value, config);
}
