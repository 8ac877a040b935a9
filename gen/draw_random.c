/* The rest of the unseen set: corners of the contract, then log-uniform random points; or, where the
 * contract leaves few points, every one of them. */
#include "draw_internal.h"

#include <stdio.h>

/* Corners take at most this part of the rest: a small set stays mostly random. */
enum { CORNER_PERCENT = 50, SHRINK_STEPS = 256, TRIES_WHEN_SPARSE = 20 };

static void random_values(const struct space *space, struct config *config, struct pcg *stream)
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

/* Shrinks the largest axis, over and over, until the configuration may be afforded; `kept` (-1: none)
 * comes last, or never when it is `fixed`, so that long single axes appear. What cannot shrink any
 * more is taken as it is when the caps of one configuration allow it. */
static bool shrink_to_fit(struct drawing *drawing, struct config *config, int kept, bool fixed,
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

static bool is_new(const struct drawing *drawing, const struct config *config)
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

static bool draw_random(struct drawing *drawing, struct pcg *stream)
{
    for (int i = 0; i < drawing->tries; i++) {
        struct config config;
        struct cost cost;
        random_values(drawing->space, &config, stream);
        int spared = spared_axis(drawing->space, stream);
        if (draw_repair(drawing->space, &config, -1) != REPAIR_FAILED &&
            shrink_to_fit(drawing, &config, spared, false, stream, &cost) &&
            is_new(drawing, &config)) {
            draw_accept(drawing, &config, &cost, "random");
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

/* --- corners --- */

/* The last tries put every other number at its least: nothing leaves more room for the axis. */
static void set_others_least(const struct space *space, struct config *config, int axis)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->problem->axes[i].kind == AXIS_NUMBER && i != axis) {
            const struct domain *domain = &space->domain[i];
            config->value[i] = domain->value_count ? domain->value[0] : domain->low;
        }
}

static void draw_corner(struct drawing *drawing, int axis, int64_t value, const char *why,
                        struct pcg *stream)
{
    enum { CORNER_TRIES = 8 };
    for (int i = 0; i < CORNER_TRIES; i++) {
        struct config config;
        struct cost cost;
        random_values(drawing->space, &config, stream);
        if (i >= CORNER_TRIES / 2)
            set_others_least(drawing->space, &config, axis);
        config.value[axis] = value;
        if (draw_repair(drawing->space, &config, axis) != REPAIR_FAILED &&
            shrink_to_fit(drawing, &config, axis, true, stream, &cost) &&
            is_new(drawing, &config)) {
            draw_accept(drawing, &config, &cost, why);
            return;
        }
    }
}

static void draw_least_corner(struct drawing *drawing, struct pcg *stream)
{
    const int input = problem_axis_index(drawing->space->problem, "input");
    struct config config;
    struct cost cost;
    draw_least(drawing->space, &config);
    config.seed = draw_config_seed(stream);
    if (input >= 0)
        config.value[input] = draw_input(drawing->space, input, config.value[input], stream);
    if (draw_repair(drawing->space, &config, -1) != REPAIR_FAILED && is_new(drawing, &config) &&
        draw_cost(drawing, &config, &cost))
        draw_accept(drawing, &config, &cost, "corner: every axis at its least");
}

/* Two axes as great as the caps permit, the others at their least: the largest tensors that there are,
 * where products of extents overflow. */
static void draw_pair(struct drawing *drawing, int first, int second, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    struct config config;
    struct cost cost;
    char why[96];
    random_values(drawing->space, &config, stream);
    set_others_least(drawing->space, &config, first);
    config.value[first] = drawing->space->domain[first].high;
    config.value[second] = drawing->space->domain[second].high;
    snprintf(why, sizeof why, "corner: %s and %s as great as fits", axes[first].name,
             axes[second].name);
    if (draw_repair(drawing->space, &config, first) != REPAIR_FAILED &&
        shrink_to_fit(drawing, &config, -1, false, stream, &cost) && is_new(drawing, &config))
        draw_accept(drawing, &config, &cost, why);
}

static bool is_range(const struct space *space, int axis)
{
    return space->problem->axes[axis].kind == AXIS_NUMBER && space->domain[axis].value_count == 0 &&
           space->domain[axis].low < space->domain[axis].high;
}

static void draw_corners(struct drawing *drawing, int end, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    char why[96];
    if (drawing->out->count < end)
        draw_least_corner(drawing, stream);
    for (int i = 0; axes[i].name && drawing->out->count < end; i++) {
        if (!domain_is_number(drawing->space, i))
            continue;
        int64_t value = draw_axis_largest(drawing, i);
        const bool cut = value < drawing->space->domain[i].high;
        snprintf(why, sizeof why, "corner: %s at its greatest%s", axes[i].name,
                 cut ? " within the caps" : "");
        if (value >= 0)
            draw_corner(drawing, i, value, why, stream);
    }
    for (int i = 0; axes[i].name; i++)
        for (int j = i + 1; axes[j].name && drawing->out->count < end; j++)
            if (is_range(drawing->space, i) && is_range(drawing->space, j))
                draw_pair(drawing, i, j, stream);
    for (int i = 0; axes[i].name && drawing->out->count < end; i++)
        if (domain_is_number(drawing->space, i)) {
            snprintf(why, sizeof why, "corner: %s at its least", axes[i].name);
            draw_corner(drawing, i, drawing->space->domain[i].low, why, stream);
        }
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
        if (is_new(drawing, &config) && draw_cost(drawing, &config, &cost))
            draw_accept(drawing, &config, &cost, "one of the contract's few points");
    }
}

int draw_rest(struct drawing *drawing)
{
    struct pcg *corners = draw_stream(drawing, "corners"), *stream = draw_stream(drawing, "random");
    const int left = drawing->count - drawing->out->count;
    bool more = true;

    if (corners && stream && drawing->few.count > 0)
        draw_few(drawing, stream);
    else if (corners && stream)
        draw_corners(drawing, drawing->out->count + left * CORNER_PERCENT / 100, corners);
    while (drawing->out->count < drawing->count && more && !drawing->no_memory) {
        more = drawing->few.count == 0 && draw_random(drawing, stream);
        if (!more)
            more = draw_again(drawing, stream);
    }
    pcg_free(corners);
    pcg_free(stream);
    return drawing->no_memory ? -1 : 0;
}
