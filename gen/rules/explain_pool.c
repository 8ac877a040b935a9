/* Draws configurations worth a run: earlier ones, combined with each other and moved to the boundaries of
 * rules. */
#include "explain_internal.h"
#include "gen/contract/instantiate.h"

#include <stdlib.h>

enum { SHRINK_STEPS = 64, STEPS_PER_ASK = 4, SMALL_BITS = 18, MOST_MOVES = 3 };

static uint64_t below(struct explainer *ex, uint64_t bound)
{
    return pcg_below(ex->stream, bound);
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

/* Shrinks the largest axis. Returns false if none can shrink except the `kept` ones (one bit each). */
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
        pool_set_random(ex, config, i);
        if (domain_is_number(ex->space, i))
            config->value[i] = domain_decorate(&ex->space->domain[i], config->value[i], ex->stream);
    }
    return draw_repair(ex->space, config, -1) != REPAIR_FAILED;
}

/* --- one candidate --- */

static const struct config *random_trial(struct explainer *ex, const uint64_t *among)
{
    int trial = (int)below(ex, (uint64_t)ex->trials);
    for (int i = 0; i < ex->trials && !bit_of(among, trial); i++)
        trial = (trial + 1) % ex->trials;
    return &ex->config[trial];
}

int pool_random_failure(struct explainer *ex)
{
    return (int)(random_trial(ex, ex->fails) - ex->config);
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

/* Picks a rule; those near the front are picked more often. */
static const struct guess *pick_guess(struct explainer *ex, const struct guesses *guesses)
{
    const uint64_t octave = (uint64_t)guesses->count >> below(ex, 8);
    return &guesses->item[octave ? below(ex, octave) : 0];
}

/* Sets the axis to whole tiles, where kernels that fail on nearly everything may still be right. */
static void set_tiles(struct explainer *ex, struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    const int64_t tile = domain->tile[below(ex, (uint64_t)domain->tile_count)];
    const int64_t tiles = pool_random_up_to(ex, 64);
    config->value[axis] = pool_into_domain(domain, tile * tiles);
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
        pool_set_random(ex, config, axis);
}

bool pool_draw(struct explainer *ex, const struct guesses *guesses, struct config *out)
{
    const int moves = 1 + (int)below(ex, MOST_MOVES);
    pick_base(ex, out);
    out->seed = draw_config_seed(ex->stream);
    for (int i = 0; i < moves; i++) {
        const struct guess *guess = guesses->count ? pick_guess(ex, guesses) : NULL;
        if (guess && guess->count > 0 && below(ex, 4))
            pool_aim(ex, &guess->atom[below(ex, (uint64_t)guess->count)], out);
        else
            random_move(ex, out);
    }
    return draw_repair(ex->space, out, -1) != REPAIR_FAILED && is_new(ex, out);
}

/* Most of them are small, since these are run and judged faster. A quarter is as large as the caps allow. */
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
        pool_aim(ex, near, out);
    return draw_repair(ex->space, out, -1) != REPAIR_FAILED && is_new(ex, out);
}

bool pool_beside(struct explainer *ex, const struct atom *near, struct config *out)
{
    *out = *random_trial(ex, ex->fails);
    out->seed = draw_config_seed(ex->stream);
    pool_aim(ex, near, out);
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
