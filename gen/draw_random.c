/* The rest of the unseen set: log-uniform random points; or, where the contract leaves few points, every one
 * of them. */
#include "draw_internal.h"

#include <stdio.h>

enum { SHRINK_STEPS = 256, TRIES_WHEN_SPARSE = 20 };

void draw_random_values(const struct space *space, struct config *config, struct pcg *stream)
{
    const int input = problem_axis_index(space->problem, "input");
    *config = (struct config){.problem = space->problem, .seed = draw_config_seed(stream)};
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        const uint64_t values = (uint64_t)domain->value_count;
        if (space->problem->axes[i].kind == AXIS_NUMBER)
            config->value[i] = domain_decorate(domain, domain_random(domain, stream), stream);
        else if (i == input)
            config->value[i] = draw_input(space, i, domain->value[0], stream);
        else
            config->value[i] = domain->value[pcg_below(stream, values)];
    }
}

/* --- into the caps --- */

/* `skipped` holds one bit an axis. */
static int largest_axis(const struct space *space, const struct config *config, unsigned skipped)
{
    int largest = -1;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!(skipped >> i & 1) && domain_is_number(space, i) &&
            config->value[i] > space->domain[i].low &&
            (largest < 0 || config->value[i] > config->value[largest]))
            largest = i;
    return largest;
}

/* False, with *config as it was, when the limits do not let the axis shrink. */
static bool shrink_axis(const struct space *space, struct config *config, int axis, int kept,
                        struct pcg *stream)
{
    const struct domain *domain = &space->domain[axis];
    const int64_t smaller = domain_shrink(domain, config->value[axis], stream);
    const int64_t decorated = domain_decorate(domain, smaller, stream);
    const struct config before = *config;
    config->value[axis] = decorated < config->value[axis] ? decorated : smaller;
    if (draw_repair(space, config, kept) != REPAIR_FAILED && !config_same_point(config, &before))
        return true;
    *config = before;
    return false;
}

bool draw_shrink_to_fit(struct drawing *drawing, struct config *config, int kept, bool fixed,
                        struct pcg *stream, struct cost *cost)
{
    const struct cost allowed = draw_allowance(drawing, 1);
    const unsigned spared = kept < 0 ? 0 : 1u << kept;
    unsigned stuck = 0;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (draw_cost_within(drawing, config, &allowed, cost))
            return true;
        int axis = largest_axis(drawing->space, config, stuck | spared);
        if (axis < 0 && !fixed)
            axis = largest_axis(drawing->space, config, stuck);
        if (axis < 0)
            return draw_cost(drawing, config, cost);
        if (!shrink_axis(drawing->space, config, axis, axis == kept ? -1 : kept, stream))
            stuck |= 1u << axis;
    }
    return false;
}

bool draw_is_new(const struct drawing *drawing, const struct config *config)
{
    return space_contains(drawing->space, config, NULL) &&
           !point_set_has(&drawing->used, config);
}

/* --- one draw --- */

/* Half of the draws spare one axis, any, from shrinking. */
static int spared_axis(const struct space *space, struct pcg *stream)
{
    int axes[PROBLEM_MAX_AXES];
    uint64_t count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i))
            axes[count++] = i;
    if (count == 0 || pcg_below(stream, 2))
        return -1;
    return axes[pcg_below(stream, count)];
}

/* Each number with even odds a value of some seen configuration. */
static void mix_seen(const struct drawing *drawing, struct config *config, struct pcg *stream)
{
    for (int i = 0; config->problem->axes[i].name; i++) {
        const uint64_t pick = pcg_below(stream, (uint64_t)drawing->seen->count);
        const int64_t value = drawing->seen->item[pick].value[i];
        if (domain_is_number(drawing->space, i) && pcg_below(stream, 2) &&
            domain_contains(&drawing->space->domain[i], value))
            config->value[i] = value;
    }
}

static bool draw_one(struct drawing *drawing, bool mixed, struct pcg *stream)
{
    for (int i = 0; i < drawing->tries; i++) {
        struct config config;
        struct cost cost;
        draw_random_values(drawing->space, &config, stream);
        if (mixed)
            mix_seen(drawing, &config, stream);
        int spared = spared_axis(drawing->space, stream);
        if (draw_repair(drawing->space, &config, -1) != REPAIR_FAILED &&
            draw_shrink_to_fit(drawing, &config, spared, false, stream, &cost) &&
            draw_is_new(drawing, &config)) {
            draw_accept(drawing, &config, &cost, mixed ? "seen values mixed" : "random");
            return true;
        }
    }
    drawing->tries = TRIES_WHEN_SPARSE; /* the next one will not be easier to find */
    return false;
}

/* The point of an earlier draw with other contents: where nothing new is left. */
static bool draw_again(struct drawing *drawing, struct pcg *stream)
{
    for (int i = 0; i < drawing->out->count; i++) {
        uint64_t pick = pcg_below(stream, (uint64_t)drawing->out->count);
        struct config config = drawing->out->item[pick].config;
        struct cost cost;
        config.seed = draw_config_seed(stream);
        if (draw_cost(drawing, &config, &cost)) {
            draw_accept(drawing, &config, &cost, "an earlier point with other contents");
            return true;
        }
    }
    return false;
}

/* --- few points --- */

static void shuffle(struct config_list *list, struct pcg *stream)
{
    for (int i = list->count - 1; i > 0; i--) {
        int j = (int)pcg_below(stream, (uint64_t)i + 1);
        struct config swapped = list->item[i];
        list->item[i] = list->item[j];
        list->item[j] = swapped;
    }
}

static void draw_few(struct drawing *drawing, struct pcg *stream)
{
    shuffle(&drawing->few, stream);
    for (int i = 0; i < drawing->few.count && drawing->out->count < drawing->count; i++) {
        struct config config = drawing->few.item[i];
        struct cost cost;
        config.seed = draw_config_seed(stream);
        if (draw_is_new(drawing, &config) && draw_cost(drawing, &config, &cost))
            draw_accept(drawing, &config, &cost, "one of the contract's few points");
    }
}

int draw_random(struct drawing *drawing)
{
    struct pcg *stream = draw_stream(drawing, "random");
    bool more = stream != NULL;

    if (stream && drawing->few.count > 0)
        draw_few(drawing, stream);
    while (drawing->out->count < drawing->count && more && !drawing->no_memory) {
        more = drawing->few.count == 0 && draw_one(drawing, false, stream);
        if (!more)
            more = draw_again(drawing, stream);
    }
    pcg_free(stream);
    return drawing->no_memory ? -1 : 0;
}

int draw_mixed(struct drawing *drawing, int most)
{
    struct pcg *stream = draw_stream(drawing, "mixed");
    const int end = drawing->out->count + most;
    while (stream && drawing->seen->count > 0 && drawing->few.count == 0 && drawing->out->count < end &&
           draw_one(drawing, true, stream))
        continue;
    pcg_free(stream);
    return drawing->no_memory || !stream ? -1 : 0;
}
