/* Gives the set every input class at least once. The parts drawn before prefer the published class and the
 * sensitive ones, so a short set lacks most of the others. Faults that show only in rows of infinities or
 * equal values would then be found by chance. */
#include "draw_internal.h"

#include <stdio.h>
#include <string.h>

static int count_class(const struct drawing *drawing, int from, int axis, int64_t class)
{
    int count = 0;
    for (int i = from; i < drawing->out->count; i++)
        count += drawing->out->item[i].config.value[axis] == class;
    return count;
}

/* Returns whether some axis is at its least. With a single element, many input classes are the same. */
static bool has_least(const struct space *space, const struct config *config)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && space->domain[i].value_count == 0 &&
            config->value[i] <= domain_least(&space->domain[i]))
            return true;
    return false;
}

/* Gives the class to the draw if the result is another point of the contract. */
static bool give_class(struct drawing *drawing, struct drawn *drawn, int axis, int64_t class)
{
    const struct problem *problem = drawing->space->problem;
    const size_t used = strlen(drawn->why);
    struct config config = drawn->config;
    config.value[axis] = class;
    if (!draw_is_new(drawing, &config))
        return false;
    drawn->config = config;
    snprintf(drawn->why + used, sizeof drawn->why - used, ", %s=%s", problem->axes[axis].name,
             problem_choice(problem, axis, class));
    point_set_add(&drawing->used, &config);
    return true;
}

/* Finds the draw that gives up its class: one whose class is the most frequent, preferably with no axis at
 * its least. Draws whose flag in `kept` is set are left alone. Returns -1 if there is none. */
static int find_giver(const struct drawing *drawing, int from, int first, int axis, const bool *kept)
{
    int best = -1, most = 1;
    for (int pass = 0; pass < 2 && best < 0; pass++)
        for (int i = first; i < drawing->out->count; i++) {
            const struct config *config = &drawing->out->item[i].config;
            const int count = count_class(drawing, from, axis, config->value[axis]);
            if (!kept[i - first] && count > most && (pass > 0 || !has_least(drawing->space, config))) {
                best = i;
                most = count;
            }
        }
    return best;
}

void draw_missing_classes(struct drawing *drawing, int from, int first)
{
    enum { MOST_KEPT = 4096 };
    const int axis = problem_input_axis(drawing->space->problem);
    const struct domain *domain = axis >= 0 ? &drawing->space->domain[axis] : NULL;
    bool kept[MOST_KEPT] = {false};
    if (axis < 0 || drawing->few.count > 0 || drawing->out->count - first > MOST_KEPT)
        return;
    for (int i = 0; i < domain->value_count; i++) {
        bool given = count_class(drawing, from, axis, domain->value[i]) > 0;
        for (int giver; !given && (giver = find_giver(drawing, from, first, axis, kept)) >= 0;) {
            kept[giver - first] = true;
            given = give_class(drawing, &drawing->out->item[giver], axis, domain->value[i]);
        }
    }
}
