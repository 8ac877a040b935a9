/* Draws the configurations for all checks: like a verdict's, but small, and each size with every input class.
 * Errors of definitions show in few elements as well as in many, and small configurations cost
 * milliseconds. */
#include <stdlib.h>
#include <string.h>

#include "gen/draw/cost.h"
#include "prove_internal.h"
#include "verify/session/task.h"

/* Fractions of the machine's limits for a verdict's configuration: for most of them, and for every fourth. */
static const double small_share = 1.0 / 64, larger_share = 1.0 / 8;

static bool draw_sizes(struct proof *p, struct drawn_list *out, int count, double share, const char *what)
{
    struct space_error error;
    struct draw_caps caps = task_caps(p->problem, p->options->device);
    const struct config_list *seen = p->seen.count ? &p->seen : &p->host_seen;
    if (p->options->device->backend ==
        BACKEND_CUDA) /* baselines use one thread per element, and no matrix units */
        caps = (struct draw_caps){.bytes = 128e6, .flops = 2e10};
    caps.bytes *= share;
    caps.flops *= share;
    p->caps = caps;
    if (draw_unseen(out, &p->space, seen, NULL, count, p->options->seed, &caps, NULL, &error) != 0)
        return prove_break(p, error.environment ? PROVE_ENVIRONMENT : PROVE_INPUT, "%s configurations: %s",
                           what, error.text);
    return true;
}

static bool has_case(const struct proof *p, const struct config *config)
{
    for (int i = 0; i < p->case_count; i++)
        if (config_same_point(&p->cases[i].config, config))
            return true;
    return false;
}

/* Adds a case with this class, if the contract allows it. */
static bool add_case(struct proof *p, const struct config *config, int class)
{
    struct config with = *config;
    const int axis = problem_input_axis(p->problem);
    if (axis >= 0)
        with.value[axis] = class;
    if (!space_contains(&p->space, &with, NULL) || has_case(p, &with))
        return false;
    p->cases[p->case_count++] = (struct prove_case){.config = with, .class = class};
    return true;
}

static int take(struct proof *p, const struct drawn_list *list, int class, int wanted)
{
    int taken = 0;
    for (int i = 0; i < list->count && taken < wanted; i++)
        taken += add_case(p, &list->item[(class * wanted + i) % list->count].config, class);
    return taken;
}

/* The case where a kernel's errors accumulate: the longest axis that fits, all else as small as among the
 * drawn ones. */
static bool longest(struct proof *p, const struct drawn_list *list, struct config *config)
{
    const char *name = p->problem->accumulation.axis;
    const int axis = name ? problem_axis_index(p->problem, name) : -1;
    struct costing costing = costing_of(&p->space, &p->caps);
    double least = HUGE_COST;
    for (int i = 0; i < list->count && axis >= 0; i++) {
        struct config tried = list->item[i].config;
        struct cost cost;
        if (!draw_cost(&costing, &tried, &cost) || cost.flops >= least)
            continue;
        least = cost.flops;
        *config = tried;
        int64_t length = p->space.domain[axis].high;
        for (; length > tried.value[axis]; length -= length / 4 + 1) {
            tried.value[axis] = length;
            if (space_contains(&p->space, &tried, NULL) && draw_cost(&costing, &tried, &cost))
                break;
            tried = *config;
        }
        *config = tried;
    }
    return least < HUGE_COST;
}

static void choose(struct proof *p, const struct drawn_list *small, const struct drawn_list *larger)
{
    struct config far;
    const bool has_far = longest(p, small, &far);
    const int classes = p->classes ? p->classes : 1, wanted = p->options->sizes;
    const int few = wanted / 4;
    for (int c = 0; c < classes; c++) {
        const int from = p->case_count;
        int taken = take(p, larger, c, few);
        taken += has_far && add_case(p, &far, c);
        taken += take(p, small, c, wanted - taken);
        if (from < p->case_count)
            p->cases[from].nulls = true;
        else if (p->classes && domain_contains(&p->space.domain[problem_input_axis(p->problem)], c))
            prove_fail(p, PROVE_DEFINITION, NULL, "a configuration of every input class",
                       "the class %s is never drawn: no limit of the contract admits it at any of %d sizes",
                       p->problem->classes[c].name, small->count + larger->count);
    }
}

bool prove_draw(struct proof *p)
{
    struct drawn_list small = {0}, larger = {0};
    const int classes = p->classes ? p->classes : 1, wanted = p->options->sizes;
    prove_progress(p, "drawing", 0, 0);
    p->cases = calloc((size_t)(classes * (wanted + 1)), sizeof *p->cases);
    bool ok = p->cases || prove_broke(p, "drawing", -1);
    ok = ok && draw_sizes(p, &larger, 2 * wanted, larger_share, "larger") &&
         draw_sizes(p, &small, 4 * wanted, small_share, "small");
    if (ok)
        choose(p, &small, &larger);
    if (ok && p->case_count == 0)
        ok = prove_break(p, PROVE_INPUT, "no configuration of %s could be drawn\n---> widen the .space file",
                         p->problem->name);
    drawn_list_clear(&small);
    drawn_list_clear(&larger);
    return ok;
}
