/* Draws neighbours of the seen configurations: a direct test for `if (k == 4096)`. */
#include "draw_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps are drawn in this order: those that break hard-coded shapes most directly come first. */
enum step_kind { STEP_ONE, STEP_CHOICE, STEP_TILE, STEP_KINDS };

struct step {
    int seen, axis;
    enum step_kind kind;
    int64_t value; /* the new value of the axis */
};

struct step_list {
    struct step *item;
    int count, capacity;
};

static int add_step(struct step_list *list, const struct step *step)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        struct step *item = realloc(list->item, (size_t)capacity * sizeof *item);
        if (!item)
            return -1;
        list->item = item;
        list->capacity = capacity;
    }
    list->item[list->count++] = *step;
    return 0;
}

/* Adds the steps to the values before and after. For a list of values these replace +-1. */
static int add_ones(struct step_list *list, const struct domain *domain, int64_t from, struct step step)
{
    step.kind = STEP_ONE;
    for (int sign = -1; sign <= 1; sign += 2) {
        step.value = domain_next(domain, from, sign);
        if (step.value != from && add_step(list, &step))
            return -1;
    }
    return 0;
}

static int add_tiles(struct step_list *list, const struct domain *domain, int64_t from, struct step step)
{
    step.kind = STEP_TILE;
    for (int i = 0; i < domain->tile_count; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            step.value = from + sign * domain->tile[i];
            if (domain->tile[i] > 1 && domain_contains(domain, step.value) && add_step(list, &step))
                return -1;
        }
    return 0;
}

static int add_choices(struct step_list *list, const struct domain *domain, int64_t from, struct step step)
{
    step.kind = STEP_CHOICE;
    for (int i = 0; i < domain->value_count; i++) {
        step.value = domain->value[i];
        if (step.value != from && add_step(list, &step))
            return -1;
    }
    return 0;
}

static int collect_steps(struct step_list *list, const struct drawing *drawing)
{
    const struct axis *axes = drawing->space->problem->axes;
    for (int seen = 0; seen < drawing->seen->count; seen++)
        for (int i = 0; axes[i].name; i++) {
            const struct domain *domain = &drawing->space->domain[i];
            const int64_t from = drawing->seen->item[seen].value[i];
            const struct step step = {.seen = seen, .axis = i};
            int failed = axes[i].kind == AXIS_CHOICE
                             ? add_choices(list, domain, from, step)
                             : add_ones(list, domain, from, step) || add_tiles(list, domain, from, step);
            if (failed)
                return -1;
        }
    return 0;
}

static void shuffle(struct step_list *list, struct pcg *stream)
{
    for (int i = list->count - 1; i > 0; i--) {
        int j = (int)pcg_below(stream, (uint64_t)i + 1);
        struct step swapped = list->item[i];
        list->item[i] = list->item[j];
        list->item[j] = swapped;
    }
}

/* --- one neighbour --- */

static void say_step(const struct drawing *drawing, const struct step *step, char *why, size_t size)
{
    const struct problem *problem = drawing->space->problem;
    const struct axis *axis = &problem->axes[step->axis];
    const int64_t from = drawing->seen->item[step->seen].value[step->axis];
    const long long to = (long long)step->value, by = (long long)(step->value - from);
    if (axis->kind == AXIS_CHOICE)
        snprintf(why, size, "like seen configuration %d but %s=%s", step->seen + 1, axis->name,
                 problem_choice(problem, step->axis, step->value));
    else if (drawing->space->domain[step->axis].value_count > 0)
        snprintf(why, size, "like seen configuration %d but %s %lld to %lld", step->seen + 1, axis->name,
                 (long long)from, to);
    else
        snprintf(why, size, "like seen configuration %d but %s%+lld", step->seen + 1, axis->name, by);
}

static void say_change(const struct config *config, int axis, char *why, size_t size)
{
    const struct axis *changed = &config->problem->axes[axis];
    const size_t used = strlen(why);
    if (changed->kind == AXIS_CHOICE)
        snprintf(why + used, size - used, ", %s=%s", changed->name,
                 problem_choice(config->problem, axis, config->value[axis]));
    else
        snprintf(why + used, size - used, ", %s to %lld", changed->name, (long long)config->value[axis]);
}

/* Makes the step, changes the input class unless the step is a choice, and repairs violated constraints. */
static bool make_neighbour(const struct drawing *drawing, const struct step *step, struct pcg *stream,
                           struct config *config, char *why, size_t size)
{
    const struct config *from = &drawing->seen->item[step->seen];
    const int input = problem_input_axis(from->problem);
    *config = *from;
    config->seed = draw_config_seed(stream);
    config->value[step->axis] = step->value;
    say_step(drawing, step, why, size);
    int moved = draw_repair(drawing->space, config, step->axis);
    if (moved == REPAIR_FAILED)
        return false;
    if (moved != step->axis)
        say_change(config, moved, why, size);
    if (step->kind != STEP_CHOICE && input >= 0) {
        config->value[input] = draw_input(drawing->space, input, from->value[input], stream);
        if (config->value[input] != from->value[input])
            say_change(config, input, why, size);
    }
    return space_contains(drawing->space, config, NULL);
}

static bool draw_step(struct drawing *drawing, const struct step *step, struct pcg *stream)
{
    enum { INPUTS_TRIED = 4 }; /* two seen points may have a neighbour that differs only in the input */
    struct config config;
    struct cost cost, allowed = draw_allowance(drawing);
    char why[96];
    bool made = false;
    for (int i = 0; i < INPUTS_TRIED && !made; i++)
        made = make_neighbour(drawing, step, stream, &config, why, sizeof why) &&
               !point_set_has(&drawing->used, &config);
    if (!made)
        return false;
    drawing->neighbours++;
    if (!draw_cost(&drawing->costing, &config, &cost)) {
        drawing->dear++;
        return false;
    }
    if (!cost_fits(&cost, &allowed))
        return false;
    draw_accept(drawing, &config, &cost, why);
    return true;
}

/* --- which of them --- */

/* Returns the next step, from the seen configuration and the axis used least; `use` counts the draws of each.
 * AXIS_USE is the weight of an axis; another weight would change the sets. */
enum { AXIS_USE = 12 };

static int next_step(const struct step_list *list, enum step_kind kind, const int *seen_use, int seen_count,
                     const int *axis_use)
{
    int best = -1;
    long best_use = 0;
    for (int i = 0; i < list->count; i++) {
        const struct step *step = &list->item[i];
        long use = (long)seen_use[step->seen] * seen_count + (long)axis_use[step->axis] * AXIS_USE;
        if (step->kind == kind && (best < 0 || use < best_use)) {
            best = i;
            best_use = use;
        }
    }
    return best;
}

static void draw_kind(struct drawing *drawing, struct step_list *list, enum step_kind kind, int *seen_use,
                      int budget, struct pcg *stream)
{
    int axis_use[PROBLEM_MAX_AXES] = {0};
    while (drawing->out->count < budget && !drawing->no_memory) {
        int i = next_step(list, kind, seen_use, drawing->seen->count, axis_use);
        if (i < 0)
            break;
        const struct step step = list->item[i];
        memmove(&list->item[i], &list->item[i + 1], (size_t)(--list->count - i) * sizeof *list->item);
        if (draw_step(drawing, &step, stream)) {
            seen_use[step.seen]++;
            axis_use[step.axis]++;
        }
    }
}

int draw_neighbours(struct drawing *drawing, int most)
{
    struct step_list list = {0};
    struct pcg *stream = draw_stream(drawing, "neighbours");
    int *seen_use = calloc((size_t)drawing->seen->count + 1, sizeof *seen_use);
    const int budget = drawing->out->count + most; /* frozen failures come before them */
    int result = -1;

    if (stream && seen_use && collect_steps(&list, drawing) == 0) {
        shuffle(&list, stream);
        for (int kind = 0; kind < STEP_KINDS; kind++)
            draw_kind(drawing, &list, (enum step_kind)kind, seen_use, budget, stream);
        result = drawing->no_memory ? -1 : 0;
    }
    free(seen_use);
    free(list.item);
    pcg_free(stream);
    return result;
}
