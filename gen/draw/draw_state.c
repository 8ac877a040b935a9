#include "draw_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/instantiate.h"

/* --- points --- */

static size_t point_slot(const struct point_set *set, const struct config *config)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over whole values, and a last mix */
    for (int i = 0; config->problem->axes[i].name; i++)
        hash = (hash ^ (uint64_t)config->value[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    size_t at = (size_t)hash & (set->capacity - 1);
    while (set->slot[at].problem && !config_same_point(&set->slot[at], config))
        at = (at + 1) & (set->capacity - 1);
    return at;
}

bool point_set_has(const struct point_set *set, const struct config *config)
{
    return set->slot[point_slot(set, config)].problem != NULL;
}

void point_set_add(struct point_set *set, const struct config *config)
{
    set->slot[point_slot(set, config)] = *config;
}

/* --- streams --- */

struct pcg *draw_stream(struct drawing *drawing, const char *purpose)
{
    char name[96];
    snprintf(name, sizeof name, "%s/unseen/%s", drawing->space->problem->name, purpose);
    struct pcg *stream = pcg_new(drawing->seed, name);
    if (!stream)
        drawing->no_memory = true;
    return stream;
}

uint64_t draw_config_seed(struct pcg *stream)
{
    return pcg_below(stream, (uint64_t)1 << 31);
}

/* --- cost --- */

bool cost_fits(const struct cost *cost, const struct cost *allowed)
{
    return cost->bytes <= allowed->bytes && cost->flops <= allowed->flops;
}

static bool instance_cost(const struct config *config, struct cost *cost)
{
    struct instance instance;
    if (config_measure(config, &instance))
        return false; /* too large for this machine's memory, whatever the caps say */
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

/* Halves the largest range that the limits let be halved: no problem need survive a configuration
 * outside its contract. */
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
        if (draw_in_limits(space, &halved)) {
            best = halved;
            largest = i;
        }
    }
    *config = best;
    return largest >= 0;
}

/* A problem may make long tables for an instance (a page per token), so a large configuration is
 * approached through smaller ones: whatever is above the caps already at a fraction of the size is
 * above them at the whole. */
static bool fraction_fits(struct drawing *drawing, const struct config *config, const struct cost *allowed)
{
    enum { MOST = 128, STRIDE = 2 }; /* a quarter of the work to save all of it */
    const double cheap = 1 << 16;    /* a table of this length takes about a millisecond */
    struct config path[MOST], at = *config;
    struct cost cost;
    int count = 0;
    for (int i = 1;
         draw_box_size(drawing->space, &at) > cheap && count < MOST && halve_largest(drawing->space, &at);
         i++)
        if (i % STRIDE == 0)
            path[count++] = at;
    while (count-- > 0)
        if (!instance_cost(&path[count], &cost) || !cost_fits(&cost, allowed)) {
            drawing->last_dear = path[count];
            return false;
        }
    return true;
}

static bool has_caps(const struct drawing *drawing)
{
    return drawing->cap.bytes < HUGE_COST || drawing->cap.flops < HUGE_COST;
}

/* True when `config` is nowhere smaller than the configuration last found above the caps. */
static bool above_last_dear(const struct drawing *drawing, const struct config *config)
{
    const struct config *dear = &drawing->last_dear;
    if (!dear->problem || dear->seed != config->seed)
        return false;
    for (int i = 0; config->problem->axes[i].name; i++) {
        bool range =
            config->problem->axes[i].kind == AXIS_NUMBER && drawing->space->domain[i].value_count == 0;
        if (range ? config->value[i] < dear->value[i] : config->value[i] != dear->value[i])
            return false;
    }
    return true;
}

bool draw_cost_within(struct drawing *drawing, const struct config *config, const struct cost *allowed,
                      struct cost *cost)
{
    *cost = (struct cost){0};
    if (!has_caps(drawing))
        return true; /* nothing to compare with: spares the instance */
    if (!cost_fits(&drawing->dear_cost, allowed) || !cost_fits(allowed, &drawing->dear_cost)) {
        drawing->last_dear.problem = NULL; /* what was found says nothing about another bound */
        drawing->dear_cost = *allowed;
    }
    if (above_last_dear(drawing, config) || !fraction_fits(drawing, config, allowed))
        return false;
    if (instance_cost(config, cost) && cost_fits(cost, allowed))
        return true;
    drawing->last_dear = *config;
    return false;
}

bool draw_cost(struct drawing *drawing, const struct config *config, struct cost *cost)
{
    return draw_cost_within(drawing, config, &drawing->cap, cost);
}

static double allowance(const struct drawing *drawing, double total, double spent, double cap)
{
    const double wanted = drawing->count, made = drawing->out->count;
    const double left = wanted > made ? wanted - made : 1;
    const double share = total / (4 * wanted); /* a quarter is kept in equal shares */
    const double free = drawing->budget.part * total - spent - share * (left - 1);
    const double allowed = free * drawing->budget.grain < share ? share : free * drawing->budget.grain;
    return allowed < cap ? allowed : cap;
}

struct cost draw_allowance(const struct drawing *drawing)
{
    if (!has_caps(drawing))
        return drawing->cap;
    return (struct cost){allowance(drawing, drawing->total.bytes, drawing->spent.bytes, drawing->cap.bytes),
                         allowance(drawing, drawing->total.flops, drawing->spent.flops, drawing->cap.flops)};
}

/* --- the set --- */

static int grow(struct drawn_list *list)
{
    int capacity = list->capacity ? 2 * list->capacity : 64;
    struct drawn *item = realloc(list->item, (size_t)capacity * sizeof *item);
    if (!item)
        return -1;
    list->item = item;
    list->capacity = capacity;
    return 0;
}

void draw_accept(struct drawing *drawing, const struct config *config, const struct cost *cost,
                 const char *why)
{
    struct drawn_list *out = drawing->out;
    if (out->count == out->capacity && grow(out)) {
        drawing->no_memory = true;
        return;
    }
    struct drawn *drawn = &out->item[out->count++];
    drawn->config = *config;
    snprintf(drawn->why, sizeof drawn->why, "%s", why);
    drawing->spent.bytes += cost->bytes;
    drawing->spent.flops += cost->flops;
    point_set_add(&drawing->used, config);
    if (drawing->novelty)
        novelty_mark(drawing->novelty, config);
}
