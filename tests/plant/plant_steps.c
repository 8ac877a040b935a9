#include "plant_steps.h"

struct stepping {
    const struct space *space;
    const struct config *from;
    struct config *step;
    int steps;
};

static void add(struct stepping *s, int axis, int64_t value)
{
    struct config step = *s->from;
    step.value[axis] = value;
    if (value == s->from->value[axis] || !space_contains(s->space, &step, NULL))
        return;
    for (int i = 0; i < s->steps; i++)
        if (config_same_point(&s->step[i], &step))
            return;
    s->step[s->steps++] = step;
}

static void add_earlier(struct stepping *s, int axis)
{
    const struct domain *domain = &s->space->domain[axis];
    for (int i = 0; i < domain->value_count && domain->value[i] != s->from->value[axis]; i++)
        add(s, axis, domain->value[i]);
}

static void add_less(struct stepping *s, int axis)
{
    const struct domain *domain = &s->space->domain[axis];
    const int64_t value = s->from->value[axis];
    add(s, axis, domain->low);
    add(s, axis, value / 2);
    for (int i = 0; i < domain->tile_count; i++)
        add(s, axis, value / domain->tile[i] * domain->tile[i]);
    add(s, axis, value - 1);
}

int plant_steps(const struct space *space, const struct config *config, struct config *steps)
{
    struct stepping s = {.space = space, .from = config, .step = steps};
    for (int i = 0; space->problem->axes[i].name; i++)
        if (space->domain[i].value_count > 0)
            add_earlier(&s, i);
        else
            add_less(&s, i);
    return s.steps;
}
