/* Configurations worth a run: what has been run, crossed, and moved to the edges of rules. */
#include "explain_internal.h"
#include "gen/contract/instantiate.h"

#include <stdlib.h>

enum { SHRINK_STEPS = 64, STEPS_PER_ASK = 4, SMALL_BITS = 18, MOST_MOVES = 3, APPROACHES = 4 };

static uint64_t below(struct explainer *ex, uint64_t bound)
{
    return pcg_below(ex->stream, bound);
}

static int64_t clamp(const struct domain *domain, int64_t value)
{
    return value < domain->low ? domain->low : value > domain->high ? domain->high : value;
}

/* The nearest value of the list at or above `value`, or the last. */
static int64_t into_domain(const struct domain *domain, int64_t value)
{
    if (domain->value_count == 0)
        return clamp(domain, value);
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] >= value)
            return domain->value[i];
    return domain->value[domain->value_count - 1];
}

static void set_random(struct explainer *ex, struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    if (ex->space->problem->axes[axis].kind == AXIS_NUMBER)
        config->value[axis] = domain_random(domain, ex->stream);
    else
        config->value[axis] = domain->value[below(ex, (uint64_t)domain->value_count)];
}

/* --- fresh ones --- */

static int largest_axis(const struct space *space, const struct config *config, unsigned kept)
{
    int largest = -1;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!(kept >> i & 1) && domain_is_number(space, i) &&
            config->value[i] > domain_least(&space->domain[i]) &&
            (largest < 0 || config->value[i] > config->value[largest]))
            largest = i;
    return largest;
}

/* False when nothing can shrink but the `kept` axes (a bit each). */
static bool shrink_largest(struct explainer *ex, struct config *config, unsigned kept)
{
    const int axis = largest_axis(ex->space, config, kept);
    if (axis < 0)
        return false;
    config->value[axis] = domain_shrink(&ex->space->domain[axis], config->value[axis], ex->stream);
    return draw_repair(ex->space, config, -1) != REPAIR_FAILED;
}

/* Shrinks the largest axes until the caps hold. */
static bool fit(struct explainer *ex, struct config *config)
{
    struct cost cost;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (draw_cost(&ex->costing, config, &cost))
            return true;
        if (!shrink_largest(ex, config, 0))
            return false;
    }
    return false;
}

int pool_size_bits(const struct space *space, const struct config *config)
{
    int bits = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && space->domain[i].value_count == 0)
            bits += 63 - __builtin_clzll((unsigned long long)config->value[i] | 1);
    return bits;
}

static bool make_small(struct explainer *ex, struct config *config)
{
    for (int i = 0; i < SHRINK_STEPS && pool_size_bits(ex->space, config) > SMALL_BITS; i++)
        if (!shrink_largest(ex, config, 0))
            return false;
    return true;
}

static bool is_new(const struct explainer *ex, const struct config *config)
{
    return space_contains(ex->space, config, NULL) && !point_set_has(&ex->used, config);
}

static bool random_config(struct explainer *ex, struct config *config)
{
    draw_least(ex->space, config);
    for (int i = 0; ex->space->problem->axes[i].name; i++) {
        set_random(ex, config, i);
        if (domain_is_number(ex->space, i))
            config->value[i] = domain_decorate(&ex->space->domain[i], config->value[i], ex->stream);
    }
    return draw_repair(ex->space, config, -1) != REPAIR_FAILED;
}

/* --- moving a quantity to a value --- */

/* Values that tell an atom from those like it: on both sides of its edge, and what smaller and larger
 * moduli would say. */
static int64_t target_remainder(struct explainer *ex, const struct atom *atom, int64_t value)
{
    static const int factor[] = {1, 1, 1, 2, 3, 4, 30, 84}; /* the last meet many other moduli, too */
    const int64_t m = atom->a * factor[below(ex, 8)];
    const int64_t base = value / m * m;
    switch (below(ex, 6)) {
    case 0: return base + atom->b;
    case 1: return base + m + atom->b;
    case 2: return base + atom->b + (below(ex, 2) ? 1 : -1);
    case 3: return base + m / 2 + atom->b;
    case 4: return value / atom->a * atom->a + (int64_t)below(ex, (uint64_t)atom->a);
    default: { /* of a part of the modulus only */
        const int64_t part = atom->a % 3 == 0 && below(ex, 2) ? atom->a / 3 : atom->a / 2;
        return part > 1 ? value / part * part + atom->b % part : value + 1;
    }
    }
}

static int64_t random_up_to(struct explainer *ex, int64_t most)
{
    const struct domain domain = {.low = 1, .high = most > 1 ? most : 1};
    return domain_random(&domain, ex->stream);
}

/* A power of two near the value, or what is none and looks like one: by its remainders, or by one bit more. */
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

static int64_t target_value(struct explainer *ex, const struct atom *atom, int64_t value)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
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
    case 5: return random_up_to(ex, value);
    default: return value;
    }
}

/* The product of all factors but one. */
static int64_t others(const struct quantity *quantity, const struct config *config, int at)
{
    int64_t product = 1;
    for (int i = 0; i < quantity->count; i++)
        if (i != at && __builtin_mul_overflow(product, config->value[quantity->axis[i]], &product))
            return INT64_MAX;
    return product;
}

/* The other factors as small as leaves a value of this axis, so that the product can be met exactly. */
static void set_others_least(struct explainer *ex, const struct quantity *quantity, int64_t value, int at,
                             struct config *config)
{
    const int64_t high = ex->space->domain[quantity->axis[at]].high;
    for (int i = 0; i < quantity->count; i++)
        if (i != at)
            config->value[quantity->axis[i]] = into_domain(&ex->space->domain[quantity->axis[i]], 1);
    for (int i = 0; i < quantity->count; i++) {
        const int axis = quantity->axis[i];
        const int64_t rest = others(quantity, config, at);
        if (i != at && value / rest > high)
            config->value[axis] = into_domain(&ex->space->domain[axis], value / rest / high + 1);
    }
}

static int64_t limited_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 2 : product;
}

/* Whose last one begins there, or before it. */
static int64_t rows_before(int64_t offset, int64_t pitch)
{
    const int64_t rows = offset / (pitch > 0 ? pitch : 1);
    return rows < INT64_MAX / 2 ? rows + 1 : rows;
}

/* Moves one axis of the quantity so that it takes, or nearly, the value. */
static void move_to(struct explainer *ex, const struct quantity *quantity, int64_t value,
                    struct config *config)
{
    const int at = quantity->kind == QUANTITY_PRODUCT ? (int)below(ex, (uint64_t)quantity->count) : 0;
    const int axis = quantity->axis[at];
    const int64_t a = config->value[axis];
    const int64_t b = quantity->count > 1 ? config->value[quantity->axis[1]] : quantity->tile;
    int64_t moved = value;
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
    config->value[axis] = into_domain(&ex->space->domain[axis], moved);
}

/* No formula leads to a size that is drawn: of a few moves of what it depends on, those that do not lead
 * away. */
static void approach(struct explainer *ex, const struct quantity *quantity, int64_t from, int64_t value,
                     struct config *config)
{
    for (int i = 0; i < APPROACHES && from != value; i++) {
        struct config moved = *config;
        const int axis = quantity->axis[below(ex, (uint64_t)quantity->count)];
        const struct domain *domain = &ex->space->domain[axis];
        const bool range = domain_is_number(ex->space, axis) && domain->value_count == 0;
        const uint64_t how = range ? below(ex, 5) : 3 + below(ex, 2);
        if (how < 2)
            moved.value[axis] = into_domain(domain, moved.value[axis] + value - from);
        else if (how == 2)
            moved.value[axis] =
                into_domain(domain, from > 0 ? limited_product(moved.value[axis], value) / from : value);
        else if (how == 3)
            moved.seed = draw_config_seed(ex->stream);
        else
            set_random(ex, &moved, axis);
        const int64_t to = quantity_value(quantity, &moved);
        if (llabs(to - value) <= llabs(from - value)) {
            *config = moved;
            from = to;
        }
    }
}

/* The axis to the derived size, or the size to the axis. */
static void approach_axis(struct explainer *ex, const struct quantity *order, int64_t value,
                          struct config *config)
{
    const int64_t size = config_derived(config, order->derived), axis = config->value[order->against];
    const int64_t apart = value == ORDER_SAME ? 0 : 1 + (int64_t)below(ex, (uint64_t)(axis / 2 + 1));
    const int64_t sign = value < ORDER_SAME ? -1 : 1; /* of the size */
    struct quantity derived = *order;
    derived.kind = QUANTITY_DERIVED;
    if (below(ex, 2))
        config->value[order->against] = into_domain(&ex->space->domain[order->against], size - sign * apart);
    else
        approach(ex, &derived, size, axis + sign * apart, config);
}

/* The value of a choice that fewest runs have had: a set of choices says something of each, and one that was hardly run
 * may be in it or not. */
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

static void aim(struct explainer *ex, const struct atom *atom, struct config *config)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    if (quantity->kind == QUANTITY_CHOICE) {
        if (atom->kind == ATOM_EQUAL)
            config->value[quantity->axis[0]] = atom->a;
        if (atom->kind == ATOM_SET && below(ex, 2))
            config->value[quantity->axis[0]] = rarest_choice(ex, quantity->axis[0]);
        else if (atom->kind != ATOM_EQUAL || below(ex, 2))
            set_random(ex, config, quantity->axis[0]);
        return;
    }
    if (quantity->count > 1 && below(ex, 3) == 0) /* another divisor, another shape of the product */
        set_random(ex, config, quantity->axis[1 + below(ex, (uint64_t)quantity->count - 1)]);
    const int64_t from = quantity_value(quantity, config), value = target_value(ex, atom, from);
    if (quantity->kind == QUANTITY_SIZE_ORDER)
        approach_axis(ex, quantity, value, config);
    else if (quantity->kind == QUANTITY_DERIVED)
        approach(ex, quantity, from, value, config);
    else
        move_to(ex, quantity, value, config);
}

/* --- one candidate --- */

static const struct config *random_trial(struct explainer *ex, const uint64_t *among)
{
    int trial = (int)below(ex, (uint64_t)ex->trials);
    for (int i = 0; i < ex->trials && !bit_of(among, trial); i++)
        trial = (trial + 1) % ex->trials;
    return &ex->config[trial];
}

static const struct config *random_fresh(struct explainer *ex)
{
    if (ex->fresh.count == 0)
        return random_trial(ex, ex->passes);
    return &ex->fresh.item[below(ex, (uint64_t)ex->fresh.count)];
}

static void cross(struct explainer *ex, const struct config *with, struct config *config)
{
    for (int i = 0; ex->space->problem->axes[i].name; i++)
        if (below(ex, 2))
            config->value[i] = with->value[i];
}

static void pick_base(struct explainer *ex, struct config *config)
{
    const uint64_t kind = below(ex, 10);
    if (kind < 3) {
        *config = *random_trial(ex, ex->fails);
    } else if (kind < 5) {
        *config = *random_trial(ex, ex->passes);
    } else if (kind < 7) {
        *config = *random_fresh(ex);
    } else {
        *config = *random_trial(ex, ex->fails);
        cross(ex, kind == 7 ? random_trial(ex, ex->fails) : random_fresh(ex), config);
    }
}

/* Rules near the front come up more often. */
static const struct guess *pick_guess(struct explainer *ex, const struct guesses *guesses)
{
    const uint64_t octave = (uint64_t)guesses->count >> below(ex, 8);
    return &guesses->item[octave ? below(ex, octave) : 0];
}

/* Whole tiles: what kernels that fail on nearly everything may still get right. */
static void set_tiles(struct explainer *ex, struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    const int64_t tile = domain->tile[below(ex, (uint64_t)domain->tile_count)];
    const int64_t tiles = random_up_to(ex, 64);
    config->value[axis] = into_domain(domain, tile * tiles);
}

static void random_move(struct explainer *ex, struct config *config)
{
    int axes = 0;
    while (ex->space->problem->axes[axes].name)
        axes++;
    const int axis = (int)below(ex, (uint64_t)axes);
    const struct domain *domain = &ex->space->domain[axis];
    const uint64_t how = domain_is_number(ex->space, axis) ? below(ex, 5) : 0;
    if (how == 1)
        config->value[axis] = domain_next(domain, config->value[axis], below(ex, 2) ? 1 : -1);
    else if (how == 2 && ex->seen && ex->seen->count > 0)
        config->value[axis] = ex->seen->item[below(ex, (uint64_t)ex->seen->count)].value[axis];
    else if (how == 3 && domain->tile_count > 0)
        set_tiles(ex, config, axis);
    else
        set_random(ex, config, axis);
}

bool pool_draw(struct explainer *ex, const struct guesses *guesses, struct config *out)
{
    const int moves = 1 + (int)below(ex, MOST_MOVES);
    pick_base(ex, out);
    out->seed = draw_config_seed(ex->stream);
    for (int i = 0; i < moves; i++) {
        const struct guess *guess = guesses->count ? pick_guess(ex, guesses) : NULL;
        if (guess && guess->count > 0 && below(ex, 4))
            aim(ex, &guess->atom[below(ex, (uint64_t)guess->count)], out);
        else
            random_move(ex, out);
    }
    return draw_repair(ex->space, out, -1) != REPAIR_FAILED && is_new(ex, out);
}

/* Most are small, which runs and is judged in less time; a quarter is as large as the caps allow. */
int pool_fill(struct explainer *ex, int count)
{
    for (int i = 0; i < count; i++) {
        struct config config;
        if (random_config(ex, &config) && (i % 4 == 0 || make_small(ex, &config)) && fit(ex, &config) &&
            is_new(ex, &config) && config_list_add(&ex->fresh, &config))
            return -1;
    }
    return 0;
}

bool pool_fresh(struct explainer *ex, const struct atom *near, struct config *out)
{
    *out = *random_fresh(ex);
    out->seed = draw_config_seed(ex->stream);
    if (near)
        aim(ex, near, out);
    return draw_repair(ex->space, out, -1) != REPAIR_FAILED && is_new(ex, out);
}

bool pool_beside(struct explainer *ex, const struct atom *near, struct config *out)
{
    *out = *random_trial(ex, ex->fails);
    out->seed = draw_config_seed(ex->stream);
    aim(ex, near, out);
    if (below(ex, 2))
        random_move(ex, out);
    return draw_repair(ex->space, out, -1) != REPAIR_FAILED && is_new(ex, out);
}

static unsigned axes_of(const struct explainer *ex, const struct guess *guess)
{
    unsigned axes = 0;
    for (int i = 0; guess && i < guess->count; i++) {
        const struct quantity *quantity = &ex->quantity[guess->atom[i].quantity];
        for (int a = 0; a < quantity->count; a++)
            axes |= 1u << quantity->axis[a];
    }
    return axes;
}

bool pool_affords(struct explainer *ex, const struct guess *kept, struct config *config)
{
    const unsigned axes = axes_of(ex, kept);
    struct cost cost;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (i % STEPS_PER_ASK == 0 && draw_cost(&ex->costing, config, &cost))
            return is_new(ex, config);
        if (!kept || !shrink_largest(ex, config, axes))
            return false;
    }
    return false;
}
