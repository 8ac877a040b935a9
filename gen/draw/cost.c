#include "cost.h"

#include "gen/contract/instantiate.h"
#include "move.h"

static struct cost cost_of_caps(const struct draw_caps *caps)
{
    const bool bytes = caps && caps->bytes > 0 && caps->bytes < HUGE_COST;
    const bool flops = caps && caps->flops > 0 && caps->flops < HUGE_COST;
    return (struct cost){bytes ? caps->bytes : HUGE_COST, flops ? caps->flops : HUGE_COST};
}

struct costing costing_of(const struct space *space, const struct draw_caps *caps)
{
    return (struct costing){.space = space, .cap = cost_of_caps(caps)};
}

bool cost_fits(const struct cost *cost, const struct cost *allowed)
{
    return cost->bytes <= allowed->bytes && cost->flops <= allowed->flops;
}

/* Making a table of this many entries takes about a millisecond and almost no memory. */
static const double cheap = 1 << 16;

bool costing_measure(struct costing *costing, const struct config *config, struct instance *instance)
{
    if (config_measure(config, instance) == 0)
        return true;
    costing->no_memory |= draw_box_size(costing->space, config) <= cheap;
    return false;
}

static bool instance_cost(struct costing *costing, const struct config *config, struct cost *cost)
{
    struct instance instance;
    if (!costing_measure(costing, config, &instance))
        return false;
    cost->bytes = instance_total_bytes(config->problem, &instance);
    cost->flops = instance.flops;
    instance_clear(&instance);
    return true;
}

double draw_box_size(const struct space *space, const struct config *config)
{
    double size = 1;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->problem->axes[i].kind == AXIS_NUMBER && space->domain[i].value_count == 0)
            size *= (double)config->value[i];
    return size;
}

/* Halves the largest range whose half satisfies the constraints. Constraints are kept since a problem's code
 * need not survive a configuration outside its contract. */
static bool halve_largest(const struct space *space, struct config *config)
{
    struct config best = *config;
    int largest = -1;
    for (int i = 0; space->problem->axes[i].name; i++) {
        const int64_t low = space->domain[i].low, half = config->value[i] / 2;
        struct config halved = *config;
        if (!domain_is_number(space, i) || space->domain[i].value_count > 0 || config->value[i] == low ||
            (largest >= 0 && config->value[i] <= config->value[largest]))
            continue;
        halved.value[i] = half > low ? half : low;
        if (draw_in_constraints(space, &halved)) {
            best = halved;
            largest = i;
        }
    }
    *config = best;
    return largest >= 0;
}

/* Returns whether smaller versions of `config` fit the allowance. A problem may make long tables for an
 * instance (a page per token), so a large configuration is approached from smaller ones. If a fraction of the
 * size exceeds the caps, so does the whole. */
static bool fraction_fits(struct costing *costing, const struct config *config, const struct cost *allowed)
{
    /* every other halving: the previous instance costs a quarter of the work and may save all of it */
    enum { MOST = 128, STRIDE = 2 };
    struct config path[MOST], at = *config;
    struct cost cost;
    int count = 0;
    for (int i = 1;
         draw_box_size(costing->space, &at) > cheap && count < MOST && halve_largest(costing->space, &at);
         i++)
        if (i % STRIDE == 0)
            path[count++] = at;
    while (count-- > 0)
        if (!instance_cost(costing, &path[count], &cost) || !cost_fits(&cost, allowed)) {
            costing->last_dear = path[count];
            return false;
        }
    return true;
}

bool costing_has_caps(const struct costing *costing)
{
    return costing->cap.bytes < HUGE_COST || costing->cap.flops < HUGE_COST;
}

/* Returns true if `config` is at least as large on every axis as the configuration last found to exceed the
 * caps. */
static bool above_last_dear(const struct costing *costing, const struct config *config)
{
    const struct config *dear = &costing->last_dear;
    if (!dear->problem || dear->seed != config->seed)
        return false;
    for (int i = 0; config->problem->axes[i].name; i++) {
        bool range =
            config->problem->axes[i].kind == AXIS_NUMBER && costing->space->domain[i].value_count == 0;
        if (range ? config->value[i] < dear->value[i] : config->value[i] != dear->value[i])
            return false;
    }
    return true;
}

bool draw_cost_within(struct costing *costing, const struct config *config, const struct cost *allowed,
                      struct cost *cost)
{
    *cost = (struct cost){0};
    if (!costing_has_caps(costing))
        return true; /* no cap to compare with: no instance is needed */
    if (!cost_fits(&costing->dear_cost, allowed) || !cost_fits(allowed, &costing->dear_cost)) {
        /* results for the previous allowance do not apply to another one */
        costing->last_dear.problem = NULL;
        costing->dear_cost = *allowed;
    }
    if (above_last_dear(costing, config) || !fraction_fits(costing, config, allowed))
        return false;
    if (instance_cost(costing, config, cost) && cost_fits(cost, allowed))
        return true;
    costing->last_dear = *config;
    return false;
}

bool draw_cost(struct costing *costing, const struct config *config, struct cost *cost)
{
    return draw_cost_within(costing, config, &costing->cap, cost);
}
