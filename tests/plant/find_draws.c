/* The ways of drawing that are compared; all stay inside the contract and the caps. */
#include <stdio.h>
#include <string.h>

#include "gen/draw/cost.h"
#include "gen/draw/move.h"
#include "find.h"

enum { MOST_TRIES = 20000, LIMIT_TRIES = 20000, FIT_STEPS = 400 };

/* A range that can be drawn; lists (head_dim) are not scaled. */
static bool is_range(const struct plant_field *field, int axis)
{
    return domain_is_number(&field->space, axis) && field->space.domain[axis].value_count == 0;
}

static int largest_range(const struct plant_field *field, const struct config *config)
{
    int largest = -1;
    for (int i = 0; field->problem->axes[i].name; i++)
        if (is_range(field, i) && config->value[i] > field->space.domain[i].low &&
            (largest < 0 || config->value[i] > config->value[largest]))
            largest = i;
    return largest;
}

static bool is_allowed(struct costing *costing, const struct config *config)
{
    struct cost cost;
    return draw_in_constraints(costing->space, config) && draw_cost(costing, config, &cost);
}

/* --- uniform and log-uniform --- */

static int64_t draw_value(const struct domain *domain, int64_t high, bool by_log, struct pcg *pcg)
{
    const struct domain range = {.low = domain->low, .high = high};
    if (domain->value_count > 0)
        return plant_pick(pcg, domain->value, domain->value_count);
    return by_log ? domain_random(&range, pcg)
                  : range.low + (int64_t)pcg_below(pcg, (uint64_t)(range.high - range.low + 1));
}

/* Every axis on its own, uniform in its range (or in its logarithm), its list, its choices. A draw outside of
 * the limits is repeated as a whole. Nearly all of a contract's volume lies above the caps, so rejection
 * alone would never end. While a draw is above the caps, its largest range is drawn again in the same way
 * from the values below, keeping the limits. A draw that this does not save is dropped. */
static bool draw_by_chance(struct costing *costing, const struct plant_field *field, bool by_log,
                           struct pcg *pcg, struct config *out)
{
    int tries = 0;
    *out = (struct config){.problem = field->problem, .seed = draw_config_seed(pcg)};
    do
        for (int i = 0; field->problem->axes[i].name; i++)
            out->value[i] = draw_value(&field->space.domain[i], field->space.domain[i].high, by_log, pcg);
    while (!draw_in_constraints(&field->space, out) && ++tries < LIMIT_TRIES);
    for (int step = 0; step < FIT_STEPS; step++) {
        if (is_allowed(costing, out))
            return true;
        const int axis = largest_range(field, out);
        if (axis < 0)
            return false;
        const struct domain *domain = &field->space.domain[axis];
        struct config smaller = *out;
        smaller.value[axis] = draw_value(domain, out->value[axis] - 1, by_log, pcg);
        if (draw_in_constraints(&field->space, &smaller))
            *out = smaller;
    }
    return false;
}

/* --- the quota --- */

static int random_range(const struct plant_field *field, struct pcg *pcg)
{
    int range[PROBLEM_MAX_AXES], count = 0;
    for (int i = 0; field->problem->axes[i].name; i++)
        if (is_range(field, i))
            range[count++] = i;
    return range[pcg_below(pcg, (uint64_t)count)];
}

static void set_clamped(const struct plant_field *field, struct config *config, int axis, int64_t value)
{
    const struct domain *domain = &field->space.domain[axis];
    config->value[axis] = value < domain->low ? domain->low : value > domain->high ? domain->high : value;
}

/* All extents times `up` over `down`. */
static void scale_all(const struct plant_field *field, struct config *config, int64_t up, int64_t down)
{
    for (int i = 0; field->problem->axes[i].name; i++)
        if (is_range(field, i))
            set_clamped(field, config, i, config->value[i] * up / down);
}

/* Powers of two, or one and a half of them, as models have. */
static void make_production(const struct plant_field *field, struct config *config, struct pcg *pcg)
{
    for (int i = 0; field->problem->axes[i].name; i++) {
        const struct domain *domain = &field->space.domain[i];
        int64_t power = 1;
        if (!domain_is_number(&field->space, i))
            continue;
        const int64_t near = draw_value(domain, domain->high, true, pcg);
        while (power <= near / 2)
            power *= 2;
        if (domain->value_count > 0)
            config->value[i] = near;
        else
            set_clamped(field, config, i, pcg_below(pcg, 2) ? power : power * 3 / 2);
    }
}

/* One of the published eight: edge, scale up, scale down, alignment twice, asymmetric, production twice. A
 * random member makes it from a random published configuration; inputs are as published. */
static void make_member(const struct plant_field *field, int member, struct config *config, struct pcg *pcg)
{
    const int axis = random_range(field, pcg), other = random_range(field, pcg);
    const int64_t factor = pcg_below(pcg, 2) ? 2 : 4, off = 1 + 2 * (int64_t)pcg_below(pcg, 8);
    *config = field->seen.item[pcg_below(pcg, (uint64_t)field->seen.count)];
    config->seed = draw_config_seed(pcg);
    switch (member) {
    case 0: config->value[axis] = field->space.domain[axis].low; break;
    case 1: scale_all(field, config, factor, 1); break;
    case 2: scale_all(field, config, 1, factor); break;
    case 3:
    case 4: set_clamped(field, config, axis, config->value[axis] + (pcg_below(pcg, 2) ? off : -off)); break;
    case 5:
        set_clamped(field, config, other, config->value[other] / 8);
        set_clamped(field, config, axis, config->value[axis] * 8);
        break;
    default: make_production(field, config, pcg); break;
    }
}

/* Above the caps the largest extent is halved. Limits are repaired by moving another axis a little. */
static bool draw_member(struct costing *costing, const struct plant_field *field, int member, struct pcg *pcg,
                        struct config *out)
{
    make_member(field, member, out, pcg);
    for (int step = 0; step < FIT_STEPS; step++) {
        if (!draw_in_constraints(&field->space, out) && draw_repair(&field->space, out, -1) == REPAIR_FAILED)
            return false;
        if (is_allowed(costing, out))
            return true;
        const int axis = largest_range(field, out);
        if (axis < 0)
            return false;
        set_clamped(field, out, axis, out->value[axis] / 2);
    }
    return false;
}

/* --- all ways --- */

static int draw_other(struct config_list *out, enum find_way way, const struct plant_field *field,
                      uint64_t seed)
{
    struct costing costing = costing_of(&field->space, &field->caps);
    char purpose[64];
    snprintf(purpose, sizeof purpose, "%s/find/%d", field->problem->name, (int)way);
    struct pcg *pcg = pcg_new(seed, purpose);
    int status = pcg ? 0 : -1;
    for (int tries = 0; status == 0 && out->count < find_many(EFFORT_STANDARD); tries++) {
        struct config config;
        const bool drawn = way == FIND_QUOTA
                               ? draw_member(&costing, field, out->count % 8, pcg, &config)
                               : draw_by_chance(&costing, field, way == FIND_LOG_UNIFORM, pcg, &config);
        if (drawn)
            status = config_list_add(out, &config);
        else if (tries > MOST_TRIES)
            status = -1;
    }
    pcg_free(pcg);
    return status;
}

int find_many(enum effort effort)
{
    return effort_count(effort) + effort_scouts(effort);
}

static int draw_ours(struct config_list *out, enum effort effort, const struct plant_field *field,
                     uint64_t seed)
{
    struct drawn_list list;
    struct space_error error;
    int status = draw_unseen(&list, &field->space, &field->seen, NULL, effort_count(effort), seed,
                             &field->caps, NULL, &error);
    if (status == 0)
        status = draw_scouts(&list, &field->space, &field->seen, effort_scouts(effort), seed, &field->caps);
    for (int i = 0; status == 0 && i < list.count; i++)
        status = config_list_add(out, &list.item[i].config);
    drawn_list_clear(&list);
    return status;
}

int find_draw(struct config_list *out, enum find_way way, const struct plant_field *field, uint64_t seed)
{
    *out = (struct config_list){0};
    const int status = way == FIND_STANDARD ? draw_ours(out, EFFORT_STANDARD, field, seed)
                       : way == FIND_QUICK  ? draw_ours(out, EFFORT_QUICK, field, seed)
                                            : draw_other(out, way, field, seed);
    if (status != 0)
        fprintf(stderr, "find: %s: way %d could not draw its set\n", field->problem->name, (int)way);
    return status;
}
