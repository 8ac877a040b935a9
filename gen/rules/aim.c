/* Moves a configuration to the boundary of a predicate: its quantity gets, or nearly gets, a value that
 * distinguishes the predicate from similar ones. */
#include "rules_internal.h"

#include <stdlib.h>

#include "gen/contract/instantiate.h"

enum { APPROACHES = 4, RARE_TRIES = 3 };

static int64_t clamp(const struct domain *domain, int64_t value)
{
    return value < domain->low ? domain->low : value > domain->high ? domain->high : value;
}

/* Returns the nearest value of the list at or above `value`, or the last. */
int64_t domain_nearest(const struct domain *domain, int64_t value)
{
    if (domain->value_count == 0)
        return clamp(domain, value);
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] >= value)
            return domain->value[i];
    return domain->value[domain->value_count - 1];
}

void set_random(struct inquiry *inquiry, struct config *config, int axis)
{
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    if (inquiry->vocabulary.space->problem->axes[axis].kind == AXIS_NUMBER)
        config->value[axis] = domain_random(domain, inquiry->stream);
    else
        config->value[axis] = domain->value[below(inquiry, (uint64_t)domain->value_count)];
}

int64_t random_up_to(struct inquiry *inquiry, int64_t most)
{
    const struct domain domain = {.low = 1, .high = most > 1 ? most : 1};
    return domain_random(&domain, inquiry->stream);
}

/* Returns a value that distinguishes a remainder from similar predicates: on both sides of its boundary, and
 * where smaller or larger moduli give another result. */
static int64_t target_remainder(struct inquiry *inquiry, const struct predicate *predicate, int64_t value)
{
    /* the last two are multiples of many other moduli, too */
    static const int factor[] = {1, 1, 1, 2, 3, 4, 30, 84};
    const int64_t m = predicate->a * factor[below(inquiry, 8)];
    const int64_t base = value / m * m;
    switch (below(inquiry, 6)) {
    case 0: return base + predicate->b;
    case 1: return base + m + predicate->b;
    case 2: return base + predicate->b + (below(inquiry, 2) ? 1 : -1);
    case 3: return base + m / 2 + predicate->b;
    case 4: return value / predicate->a * predicate->a + (int64_t)below(inquiry, (uint64_t)predicate->a);
    default: { /* agrees with the predicate only modulo a divisor */
        const int64_t part = predicate->a % 3 == 0 && below(inquiry, 2) ? predicate->a / 3 : predicate->a / 2;
        return part > 1 ? value / part * part + predicate->b % part : value + 1;
    }
    }
}

/* Returns a power of two near the value, or a number that resembles one in its remainders or in its bits. */
static int64_t target_power(struct inquiry *inquiry, int64_t value)
{
    const int64_t power = (int64_t)1 << (63 - __builtin_clzll((unsigned long long)value | 1));
    switch (below(inquiry, 5)) {
    case 0: return power;
    case 1: return 2 * power;
    case 2: return power + power / 2;
    case 3: return power + power / 4;
    default: return power + (below(inquiry, 2) ? 1 : -1);
    }
}

/* Returns a value on either side of the beginning of a range of remainders, or with any remainder, since most
 * remainders have no run yet. */
static int64_t target_residues(struct inquiry *inquiry, const struct predicate *predicate, int64_t value)
{
    const int64_t m = predicate->a, base = value / m * m;
    const bool range = predicate->kind == PREDICATE_RESIDUE_ABOVE;
    switch (below(inquiry, 6)) {
    case 0: return base + (range ? predicate->b : (int64_t)below(inquiry, (uint64_t)m));
    case 1: return base + (range ? predicate->b + 1 : (int64_t)below(inquiry, (uint64_t)m));
    case 2: return base + m * (int64_t)below(inquiry, 3) + (int64_t)below(inquiry, (uint64_t)m);
    case 3: return (int64_t)below(inquiry, (uint64_t)m); /* within the first period */
    default: return base + (int64_t)below(inquiry, (uint64_t)m);
    }
}

/* Returns a value of the set, or between or beside its values, preferably one that no run has had. */
static int64_t target_small(struct inquiry *inquiry, const struct predicate *predicate)
{
    const int most = 64 - __builtin_clzll((unsigned long long)predicate->a | 1);
    int64_t value = 0;
    for (int i = 0; i < RARE_TRIES; i++) {
        bool had = false;
        value = (int64_t)below(inquiry, (uint64_t)most + 3);
        for (int t = 0; t < inquiry->evidence.trials && !had; t++)
            had = trial_values(&inquiry->evidence, t)[predicate->quantity] == value;
        if (!had)
            break;
    }
    return value;
}

static int64_t target_value(struct inquiry *inquiry, const struct predicate *predicate, int64_t value)
{
    const struct quantity *quantity = &inquiry->vocabulary.quantity[predicate->quantity];
    if (predicate->kind == PREDICATE_RESIDUE_ABOVE || predicate->kind == PREDICATE_RESIDUE_SET)
        return target_residues(inquiry, predicate, value);
    if (predicate->kind == PREDICATE_SMALL)
        return target_small(inquiry, predicate);
    if (predicate->kind == PREDICATE_REMAINDER)
        return target_remainder(inquiry, predicate, value);
    if (predicate->kind == PREDICATE_POWER)
        return target_power(inquiry, value);
    if (predicate->kind == PREDICATE_SET)
        return quantity->listed[below(inquiry, (uint64_t)quantity->listed_count)];
    if (predicate->kind == PREDICATE_SEEN)
        value = quantity->seen[below(inquiry, (uint64_t)quantity->seen_count)];
    else
        value = predicate->a;
    switch (below(inquiry, 8)) {
    case 0: return value - 1;
    case 1:
    case 2: return value + 1;
    case 3: return value - (int64_t)below(inquiry, (uint64_t)(value / 8 + 2));
    case 4: return value + (int64_t)below(inquiry, (uint64_t)(value / 8 + 2));
    case 5: return random_up_to(inquiry, value);
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
static void set_others_least(struct inquiry *inquiry, const struct quantity *quantity, int64_t value, int at,
                             struct config *config)
{
    const int64_t high = inquiry->vocabulary.space->domain[quantity->axis[at]].high;
    for (int i = 0; i < quantity->count; i++)
        if (i != at)
            config->value[quantity->axis[i]] =
                domain_nearest(&inquiry->vocabulary.space->domain[quantity->axis[i]], 1);
    for (int i = 0; i < quantity->count; i++) {
        const int axis = quantity->axis[i];
        const int64_t rest = others(quantity, config, at);
        if (i != at && value / rest > high)
            config->value[axis] =
                domain_nearest(&inquiry->vocabulary.space->domain[axis], value / rest / high + 1);
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
static void move_tiled(struct inquiry *inquiry, const struct quantity *quantity, int64_t value,
                       struct config *config)
{
    const int tiled = quantity->axis[0], factor = quantity->axis[1];
    const int64_t tile = quantity->tile, tiles = (config->value[tiled] + tile - 1) / tile;
    const int64_t rows = config->value[factor] > 0 ? config->value[factor] : 1;
    if (below(inquiry, 2)) {
        const int64_t moved = value / (tiles > 0 ? tiles : 1) + (int64_t)below(inquiry, 2);
        config->value[factor] = domain_nearest(&inquiry->vocabulary.space->domain[factor], moved);
        return;
    }
    const int64_t wanted = value / rows + (int64_t)below(inquiry, 2);
    const int64_t moved = limited_product(wanted, tile) - (int64_t)below(inquiry, (uint64_t)tile);
    config->value[tiled] = domain_nearest(&inquiry->vocabulary.space->domain[tiled], moved);
}

/* Moves one of the tiled axes so that their tiles multiply to the value, or nearly. */
static void move_grid(struct inquiry *inquiry, const struct quantity *grid, int64_t value,
                      struct config *config)
{
    const bool first = below(inquiry, 2);
    const int64_t tile = first ? grid->tile : grid->other_tile;
    const int64_t other = first ? grid->other_tile : grid->tile;
    const int axis = grid->axis[first ? 0 : 1], against = grid->axis[first ? 1 : 0];
    const int64_t beside = (config->value[against] + other - 1) / other;
    const int64_t wanted = value / (beside > 0 ? beside : 1) + (int64_t)below(inquiry, 2);
    const int64_t moved = limited_product(wanted, tile) - (int64_t)below(inquiry, (uint64_t)tile);
    config->value[axis] = domain_nearest(&inquiry->vocabulary.space->domain[axis], moved);
}

/* Moves one axis so that the quantity gets, or nearly gets, the value. */
static void move_to(struct inquiry *inquiry, const struct quantity *quantity, int64_t value,
                    struct config *config)
{
    const int at = quantity->kind == QUANTITY_PRODUCT ? (int)below(inquiry, (uint64_t)quantity->count) : 0;
    const int axis = quantity->axis[at];
    const int64_t a = config->value[axis];
    const int64_t b = quantity->count > 1 ? config->value[quantity->axis[1]] : quantity->tile;
    int64_t moved = value;
    if (quantity->kind == QUANTITY_TILED_PRODUCT) {
        move_tiled(inquiry, quantity, value, config);
        return;
    }
    if (quantity->kind == QUANTITY_GRID) {
        move_grid(inquiry, quantity, value, config);
        return;
    }
    if (quantity->kind == QUANTITY_PRODUCT && quantity->count > 1 && below(inquiry, 2))
        set_others_least(inquiry, quantity, value, at, config);
    const int64_t rest = quantity->kind == QUANTITY_PRODUCT ? others(quantity, config, at) : 1;
    if (quantity->kind == QUANTITY_PRODUCT && quantity->count > 1)
        moved = value / (rest > 0 ? rest : 1) + (int64_t)below(inquiry, 2);
    else if (quantity->kind == QUANTITY_RATIO)
        moved = limited_product(value, b) +
                (b > 1 && below(inquiry, 2) ? (int64_t)below(inquiry, (uint64_t)b) : 0);
    else if (quantity->kind == QUANTITY_OFFSET)
        moved = rows_before(value, b) + (int64_t)below(inquiry, 2);
    else if (quantity->kind == QUANTITY_ORDER)
        moved = value < ORDER_SAME   ? b - 1 - (int64_t)below(inquiry, (uint64_t)(b / 2 + 1))
                : value > ORDER_SAME ? b + 1 + (int64_t)below(inquiry, (uint64_t)(b / 2 + 1))
                                     : b;
    else if (quantity->kind == QUANTITY_GCD)
        moved = value > 0 ? (a / value + (int64_t)below(inquiry, 2)) * value : a;
    else if (quantity->kind == QUANTITY_REMAINDER)
        moved = b > 0 ? a / b * b + value : a;
    else if (quantity->kind == QUANTITY_CEILING || quantity->kind == QUANTITY_TILES)
        moved = limited_product(value, b) - (b > 1 ? (int64_t)below(inquiry, (uint64_t)b) : 0);
    config->value[axis] = domain_nearest(&inquiry->vocabulary.space->domain[axis], moved);
}

/* Brings a derived size nearer to a value. No formula leads there, so a few random moves of the axes and the
 * seed are tried. Moves that increase the distance are undone. */
static void approach(struct inquiry *inquiry, const struct quantity *quantity, int64_t from, int64_t value,
                     struct config *config)
{
    for (int i = 0; i < APPROACHES && from != value; i++) {
        struct config moved = *config;
        const int axis = quantity->axis[below(inquiry, (uint64_t)quantity->count)];
        const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
        const bool range = domain_is_number(inquiry->vocabulary.space, axis) && domain->value_count == 0;
        /* the seed does not change it */
        const bool fixed = quantity->kind == QUANTITY_EXPRESSION ||
                           inquiry->vocabulary.space->problem->derived[quantity->derived].of_axes;
        const uint64_t how = range ? below(inquiry, fixed ? 3 : 5) : 3 + below(inquiry, 2);
        if (how < 2)
            moved.value[axis] = domain_nearest(domain, moved.value[axis] + value - from);
        else if (how == 2)
            moved.value[axis] =
                domain_nearest(domain, from > 0 ? limited_product(moved.value[axis], value) / from : value);
        else if (how == 3 && !fixed)
            moved.seed = draw_config_seed(inquiry->stream);
        else
            set_random(inquiry, &moved, axis);
        const int64_t to = quantity_value(quantity, &moved);
        if (llabs(to - value) <= llabs(from - value)) {
            *config = moved;
            from = to;
        }
    }
}

/* Moves the axis to the derived size, or the size to the axis; for two sizes, the first to the second. */
static void approach_axis(struct inquiry *inquiry, const struct quantity *order, int64_t value,
                          struct config *config)
{
    const bool two = order->second >= 0;
    const int64_t size = config_derived(config, order->derived);
    const int64_t other = two ? config_derived(config, order->second) : config->value[order->against];
    const int64_t apart = value == ORDER_SAME ? 0 : 1 + (int64_t)below(inquiry, (uint64_t)(other / 2 + 1));
    const int64_t sign = value < ORDER_SAME ? -1 : 1; /* sign of size minus axis */
    struct quantity derived = *order;
    derived.kind = QUANTITY_DERIVED;
    if (!two && below(inquiry, 2))
        config->value[order->against] =
            domain_nearest(&inquiry->vocabulary.space->domain[order->against], size - sign * apart);
    else
        approach(inquiry, &derived, size, other + sign * apart, config);
}

/* Returns the value of a choice that has the fewest runs. A set of choices makes a claim about each value,
 * which needs runs with each. */
static int64_t rarest_choice(const struct inquiry *inquiry, int axis)
{
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    int64_t rarest = domain->value[0];
    int least = inquiry->evidence.trials + 1;
    for (int i = 0; i < domain->value_count; i++) {
        int runs = 0;
        for (int t = 0; t < inquiry->evidence.trials; t++)
            runs += inquiry->evidence.config[t].value[axis] == domain->value[i];
        if (runs < least) {
            least = runs;
            rarest = domain->value[i];
        }
    }
    return rarest;
}

void aim(struct inquiry *inquiry, const struct predicate *predicate, struct config *config)
{
    const struct quantity *quantity = &inquiry->vocabulary.quantity[predicate->quantity];
    if (quantity->kind == QUANTITY_CHOICE) {
        if (predicate->kind == PREDICATE_EQUAL)
            config->value[quantity->axis[0]] = predicate->a;
        if (predicate->kind == PREDICATE_SET && below(inquiry, 2))
            config->value[quantity->axis[0]] = rarest_choice(inquiry, quantity->axis[0]);
        else if (predicate->kind != PREDICATE_EQUAL || below(inquiry, 2))
            set_random(inquiry, config, quantity->axis[0]);
        return;
    }
    if (quantity->count > 1 &&
        below(inquiry, 3) == 0) /* another divisor, or other proportions of the product */
        set_random(inquiry, config, quantity->axis[1 + below(inquiry, (uint64_t)quantity->count - 1)]);
    const int64_t from = quantity_value(quantity, config), value = target_value(inquiry, predicate, from);
    if (quantity->kind == QUANTITY_SIZE_ORDER)
        approach_axis(inquiry, quantity, value, config);
    else if (quantity_is_drawn(quantity) || quantity->kind == QUANTITY_EXPRESSION)
        approach(inquiry, quantity, from, value, config);
    else
        move_to(inquiry, quantity, value, config);
}
