/* Whether a fault can be seen at all: configurations that meet, or miss, its condition. */
#include <stdlib.h>

#include "gen/draw/cost.h"
#include "gen/draw/move.h"
#include "plant.h"

enum { MOST_VALUES = 72, MOST_COMBINATIONS = 300000, MOST_COSTS = 4000, RANDOM_TRIES = 100000 };

/* Values of one axis that are worth trying. */
struct values {
    int axis, count;
    int64_t item[MOST_VALUES];
};

static void add_value(const struct plant_field *field, struct values *values, int64_t value)
{
    if (!domain_contains(&field->space.domain[values->axis], value) || values->count == MOST_VALUES)
        return;
    for (int i = 0; i < values->count; i++)
        if (values->item[i] == value)
            return;
    values->item[values->count++] = value;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Where the terms begin or cease to hold, the ends of the domain, powers of two, and small numbers. */
static void list_values(const struct plant *plant, const struct plant_field *field, struct values *values)
{
    const struct domain *domain = &field->space.domain[values->axis];
    for (int i = 0; i < domain->value_count; i++)
        add_value(field, values, domain->value[i]);
    for (int t = 0; t <= (plant->join != PLANT_SINGLE); t++) {
        const struct plant_term *term = &plant->term[t];
        for (int64_t d = -1; d <= 1; d++)
            add_value(field, values, term->value + d);
        for (int64_t turn = 0; term->modulus && turn < 4; turn++)
            add_value(field, values, turn * term->modulus + term->value);
    }
    for (int64_t v = 1; v < 5; v++)
        add_value(field, values, v);
    for (int64_t power = 8; power <= domain->high; power *= 2)
        add_value(field, values, power);
    add_value(field, values, domain->high);
    for (int i = 0; i < field->seen.count; i++)
        for (int64_t d = -1; d <= 1; d++)
            add_value(field, values, field->seen.item[i].value[values->axis] + d);
    qsort(values->item, (size_t)values->count, sizeof *values->item, ascending);
}

/* Checks a configuration; the caps come last, since they cost most. */
static bool is_found(const struct plant *plant, bool holds, struct costing *costing, struct config *config,
                     int *costs)
{
    struct cost cost;
    if (condition_holds(plant->condition, config) != holds)
        return false;
    if (!draw_in_constraints(costing->space, config) &&
        (draw_repair(costing->space, config, -1) == REPAIR_FAILED ||
         condition_holds(plant->condition, config) != holds))
        return false;
    return *costs > 0 && (--*costs, draw_cost(costing, config, &cost));
}

/* Every combination of the values, small ones first on every axis. */
static bool solve(const struct plant *plant, bool holds, struct costing *costing, const struct values *values,
                  int axes, struct config *out)
{
    int at[PROBLEM_MAX_AXES] = {0}, costs = MOST_COSTS;
    for (int i = 0; i < MOST_COMBINATIONS; i++) {
        int axis = 0;
        draw_least(costing->space, out);
        for (int a = 0; a < axes; a++)
            out->value[values[a].axis] = values[a].item[at[a]];
        if (is_found(plant, holds, costing, out, &costs))
            return true;
        while (axis < axes && ++at[axis] == values[axis].count)
            at[axis++] = 0;
        if (axis == axes)
            break;
    }
    return false;
}

bool plant_random_config(const struct plant_field *field, struct pcg *pcg, struct config *out)
{
    const struct space *space = &field->space;
    for (int tries = 0; tries < 200; tries++) {
        *out = (struct config){.problem = field->problem, .seed = draw_config_seed(pcg)};
        for (int i = 0; field->problem->axes[i].name; i++) {
            const struct domain *domain = &space->domain[i];
            out->value[i] = field->problem->axes[i].kind == AXIS_NUMBER
                                ? domain_random(domain, pcg)
                                : plant_pick(pcg, domain->value, domain->value_count);
        }
        if (draw_in_constraints(space, out) || draw_repair(space, out, -1) != REPAIR_FAILED)
            return true;
    }
    return false;
}

bool plant_search(const struct plant *plant, const struct plant_field *field, bool holds, bool anywhere,
                  struct pcg *pcg, struct config *out)
{
    struct values values[PROBLEM_MAX_AXES];
    int axes = 0, costs = MOST_COSTS;
    unsigned named = plant->term[0].axes | (plant->join != PLANT_SINGLE ? plant->term[1].axes : 0);
    struct costing costing = costing_of(&field->space, anywhere ? NULL : &field->caps);
    for (int i = 0; field->problem->axes[i].name; i++)
        if (named >> i & 1) {
            values[axes] = (struct values){.axis = i};
            list_values(plant, field, &values[axes++]);
        }
    if (solve(plant, holds, &costing, values, axes, out))
        return true;
    const int tries = anywhere ? RANDOM_TRIES / 20 : RANDOM_TRIES;
    for (int i = 0; i < tries && costs > 0; i++)
        if (plant_random_config(field, pcg, out) && is_found(plant, holds, &costing, out, &costs))
            return true;
    return false;
}
