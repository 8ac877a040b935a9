/* Draws the corners of the contract: axes at their least and greatest values, and the largest tensors. */
#include "draw_internal.h"

#include <stdio.h>
#include <string.h>

/* Sets every other number to its least, which leaves most room for the axis. The last tries do so. */
static void set_others_least(const struct space *space, struct config *config, int axis)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->problem->axes[i].kind == AXIS_NUMBER && i != axis) {
            const struct domain *domain = &space->domain[i];
            config->value[i] = domain->value_count ? domain->value[0] : domain_least(domain);
        }
}

/* Draws a configuration. Half of the corners have the published input class, since another class may hide one
 * fault and then hides it in all corners. */
static void random_corner(const struct space *space, struct config *config, struct pcg *stream)
{
    const int input = problem_input_axis(space->problem);
    draw_random_values(space, config, stream);
    if (input >= 0 && pcg_below(stream, 2))
        config->value[input] = space->domain[input].value[0];
}

/* Values that a corner requires, by axis; -1: any. */
struct wish {
    int64_t value[PROBLEM_MAX_AXES];
};

static struct wish wish_nothing(void)
{
    struct wish wish;
    for (int i = 0; i < PROBLEM_MAX_AXES; i++)
        wish.value[i] = -1;
    return wish;
}

/* Requires the most sensitive input class of the contract. Returns false if it has none. */
static bool wish_sharpest(const struct space *space, struct wish *wish)
{
    const int input = problem_input_axis(space->problem);
    *wish = wish_nothing();
    if (input >= 0)
        wish->value[input] = draw_sharpest(space);
    return input >= 0 && wish->value[input] >= 0;
}

/* Requires the choices with which errors add up along `axis`. Returns false if the problem names none or the
 * contract excludes one. */
static bool wish_accumulation(const struct space *space, int axis, struct wish *wish)
{
    const struct problem *problem = space->problem;
    const struct accumulation *a = &problem->accumulation;
    *wish = wish_nothing();
    if (!a->axis || strcmp(a->axis, problem->axes[axis].name) != 0)
        return false;
    for (int i = 0; i < ACCUMULATION_CHOICES && a->with[i].axis; i++) {
        const int other = problem_axis_index(problem, a->with[i].axis);
        const int64_t choice = other < 0 ? -1 : problem_choice_index(problem, other, a->with[i].choice);
        if (choice < 0 || !domain_contains(&space->domain[other], choice))
            return false;
        wish->value[other] = choice;
    }
    return true;
}

static void draw_corner(struct drawing *drawing, int axis, int64_t value, const struct wish *wish,
                        const char *why, struct pcg *stream)
{
    enum { CORNER_TRIES = 8 };
    for (int i = 0; i < CORNER_TRIES; i++) {
        struct config config;
        struct cost cost;
        random_corner(drawing->space, &config, stream);
        if (i >= CORNER_TRIES / 2)
            set_others_least(drawing->space, &config, axis);
        config.value[axis] = value;
        for (int other = 0; other < PROBLEM_MAX_AXES; other++)
            if (wish->value[other] >= 0)
                config.value[other] = wish->value[other];
        if (draw_repair(drawing->space, &config, axis) != REPAIR_FAILED &&
            draw_shrink_to_fit(drawing, &config, axis, 1u << axis, true, stream, &cost) &&
            draw_is_new(drawing, &config)) {
            draw_accept(drawing, &config, &cost, why);
            return;
        }
    }
}

static void draw_least_corner(struct drawing *drawing, struct pcg *stream)
{
    const int input = problem_input_axis(drawing->space->problem);
    struct config config;
    struct cost cost;
    draw_least(drawing->space, &config);
    config.seed = draw_config_seed(stream);
    if (input >= 0)
        config.value[input] = draw_input(drawing->space, input, config.value[input], stream);
    if (draw_repair(drawing->space, &config, -1) != REPAIR_FAILED && draw_is_new(drawing, &config) &&
        draw_cost(&drawing->costing, &config, &cost))
        draw_accept(drawing, &config, &cost, "corner: every axis at its least");
}

/* Enlarges the axis in ever smaller steps while the cost is allowed. Shrinking goes by halves and
 * overshoots. */
static void grow_to_fit(struct drawing *drawing, struct config *config, int axis, struct cost *cost)
{
    const struct cost allowed = draw_allowance(drawing);
    for (int part = 2; part <= 16; part *= 2) {
        struct config larger = *config;
        struct cost more;
        larger.value[axis] += larger.value[axis] / part;
        if (space_contains(drawing->space, &larger, NULL) &&
            draw_cost_within(&drawing->costing, &larger, &allowed, &more)) {
            *config = larger;
            *cost = more;
        }
    }
}

/* Sets all choices to the published ones. The first round of pairs uses only these: lost precision shows with
 * no others. */
static void publish(const struct space *space, struct config *config)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->problem->axes[i].kind == AXIS_CHOICE)
            config->value[i] = space->domain[i].value[0];
}

static void random_lists(const struct space *space, struct config *config, struct pcg *stream)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->problem->axes[i].kind == AXIS_NUMBER && space->domain[i].value_count > 0)
            config->value[i] = domain_random(&space->domain[i], stream);
}

/* Sets one of two axes to its greatest value. The second gets a random value that makes the cost too high, or
 * else its greatest. Any ratio of the two may give the largest product. */
static bool find_pair(struct drawing *drawing, int first, int second, bool lists, struct pcg *stream,
                      struct config *config)
{
    enum { TRIES = 8 };
    const struct cost allowed = draw_allowance(drawing);
    for (int i = 0; i < TRIES; i++) {
        const struct domain *domain = &drawing->space->domain[second];
        struct cost cost;
        random_corner(drawing->space, config, stream);
        set_others_least(drawing->space, config, first);
        if (lists)
            random_lists(drawing->space, config, stream);
        else
            publish(drawing->space, config);
        config->value[first] = drawing->space->domain[first].high;
        config->value[second] = i == TRIES - 1 ? domain->high : domain_random(domain, stream);
        if (draw_repair(drawing->space, config, first) != REPAIR_FAILED &&
            (i == TRIES - 1 || !draw_cost_within(&drawing->costing, config, &allowed, &cost)))
            return true;
    }
    return false;
}

/* Draws a corner with two axes as large as the caps permit and the others at their least. These are the
 * largest tensors possible, in which products of extents overflow. */
static void draw_pair(struct drawing *drawing, int first, int second, bool lists, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    struct config config;
    struct cost cost;
    char why[96];
    snprintf(why, sizeof why, "corner: %s and %s as great as fits",
             axes[first < second ? first : second].name, axes[first < second ? second : first].name);
    if (!find_pair(drawing, first, second, lists, stream, &config) ||
        !draw_shrink_to_fit(drawing, &config, -1, 1u << second, false, stream, &cost))
        return;
    grow_to_fit(drawing, &config, first, &cost);
    if (draw_is_new(drawing, &config))
        draw_accept(drawing, &config, &cost, why);
}

static bool is_range(const struct space *space, int axis)
{
    return space->problem->axes[axis].kind == AXIS_NUMBER && space->domain[axis].value_count == 0 &&
           space->domain[axis].low < space->domain[axis].high;
}

static int count_pairs(const struct space *space)
{
    int ranges = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        ranges += is_range(space, i);
    return ranges * (ranges - 1) / 2;
}

/* Divides the budget about equally among all pairs; earlier ones get a little more. */
static void draw_pairs(struct drawing *drawing, int end, bool lists, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    const double grain = drawing->budget.grain;
    int left = count_pairs(drawing->space);
    for (int i = 0; axes[i].name; i++)
        for (int j = i + 1; axes[j].name && drawing->out->count < end; j++)
            if (is_range(drawing->space, i) && is_range(drawing->space, j)) {
                drawing->budget.grain = left > 1 ? 1.5 / left-- : 1;
                const bool swapped = pcg_below(stream, 2);
                draw_pair(drawing, swapped ? j : i, swapped ? i : j, lists, stream);
            }
    drawing->budget.grain = grain;
}

/* Combines every seen value with values of other axes that were never seen with it. A kernel with one
 * hard-coded extent tests that extent alone. */
static void draw_seen_values(struct drawing *drawing, int end, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    const struct config_list *seen = drawing->seen;
    const struct wish anything = wish_nothing();
    char why[96];
    for (int k = 0; k < seen->count; k++)
        for (int i = 0; axes[i].name && drawing->out->count < end; i++) {
            const struct config_list before = {.item = seen->item, .count = k};
            const int64_t value = seen->item[k].value[i];
            if (!domain_is_number(drawing->space, i) || config_list_has(&before, i, value) ||
                !domain_contains(&drawing->space->domain[i], value))
                continue;
            snprintf(why, sizeof why, "corner: %s=%lld as in the seen set, other axes differ", axes[i].name,
                     (long long)value);
            draw_corner(drawing, i, value, &anything, why, stream);
        }
}

static bool is_granted(const struct wish *wish, const struct config *config)
{
    for (int i = 0; i < PROBLEM_MAX_AXES; i++)
        if (wish->value[i] >= 0 && config->value[i] != wish->value[i])
            return false;
    return true;
}

/* Returns whether a corner drawn since `from` has this value or a greater one, together with the required
 * values. */
static bool is_drawn(const struct drawing *drawing, int from, int axis, int64_t value,
                     const struct wish *wish)
{
    for (int i = from; i < drawing->out->count; i++) {
        const struct config *config = &drawing->out->item[i].config;
        if (config->value[axis] >= value && is_granted(wish, config))
            return true;
    }
    return false;
}

/* Draws every axis at its greatest value, with any other values unless a pair has that already. Repeats this
 * with the most sensitive input class, which reveals a single missing element among so many. Repeats it also
 * with inputs whose errors add up along the axis. */
static void draw_greatest(struct drawing *drawing, int end, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    const int from = drawing->out->count;
    char why[96];
    draw_pairs(drawing, end, false, stream);
    for (int i = 0; axes[i].name && drawing->out->count < end; i++) {
        if (!domain_is_number(drawing->space, i))
            continue;
        const int64_t value = draw_axis_largest(drawing, i);
        const bool cut = value < drawing->space->domain[i].high;
        snprintf(why, sizeof why, "corner: %s at its greatest%s", axes[i].name,
                 cut ? " within the caps" : "");
        struct wish wish[3] = {wish_nothing()};
        int wishes = 1;
        wishes += wish_sharpest(drawing->space, &wish[wishes]);
        wishes += wish_accumulation(drawing->space, i, &wish[wishes]);
        for (int w = 0; w < wishes && value >= 0 && drawing->out->count < end; w++)
            if (!is_drawn(drawing, from, i, value, &wish[w]))
                draw_corner(drawing, i, value, &wish[w], why, stream);
    }
}

/* Draws a long sum with inputs whose errors add up along it. It has a quarter of the greatest length, since
 * the greatest one would take a third of a short set's work. Short sets end before draw_greatest reaches
 * it. */
static void draw_long_sum(struct drawing *drawing, int end)
{
    enum { PART = 4 };
    const struct axis *axes = drawing->space->problem->axes;
    struct pcg *stream = draw_stream(drawing, "long sum");
    char why[96];
    for (int i = 0; stream && axes[i].name && drawing->out->count < end; i++) {
        struct wish wish;
        if (!domain_is_number(drawing->space, i) || drawing->space->domain[i].value_count > 0 ||
            !wish_accumulation(drawing->space, i, &wish))
            continue;
        const int64_t value = draw_axis_largest(drawing, i) / PART;
        snprintf(why, sizeof why, "corner: a long sum along %s", axes[i].name);
        if (value > domain_least(&drawing->space->domain[i]))
            draw_corner(drawing, i, value, &wish, why, stream);
    }
    drawing->no_memory = drawing->no_memory || !stream;
    pcg_free(stream);
}

/* Draws, in this order: every axis at its least; a long sum; axes at their greatest, alone and in pairs; seen
 * values; each axis at its least. */
static void draw_axes(struct drawing *drawing, int end, struct pcg *stream)
{
    const struct axis *axes = drawing->space->problem->axes;
    const struct wish anything = wish_nothing();
    char why[96];
    if (drawing->out->count < end)
        draw_least_corner(drawing, stream);
    draw_long_sum(drawing, end);
    draw_greatest(drawing, end, stream);
    draw_seen_values(drawing, end, stream);
    for (int i = 0; axes[i].name && drawing->out->count < end; i++)
        if (domain_is_number(drawing->space, i)) {
            snprintf(why, sizeof why, "corner: %s at its least", axes[i].name);
            draw_corner(drawing, i, drawing->space->domain[i].low, &anything, why, stream);
        }
    draw_pairs(drawing, end, true, stream); /* once more, with other choices and data */
}

int draw_corners(struct drawing *drawing, int most)
{
    struct pcg *stream = draw_stream(drawing, "corners");
    if (stream && drawing->few.count == 0)
        draw_axes(drawing, drawing->out->count + most, stream);
    if (stream && drawing->few.count == 0 && drawing->count >= DRAW_BIG_FROM)
        draw_big(drawing, stream);
    pcg_free(stream);
    return drawing->no_memory || !stream ? -1 : 0;
}
