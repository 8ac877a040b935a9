/* Draws tensors so large that a 32-bit offset overflows. */
#include "draw_internal.h"

#include <stdio.h>

#include "gen/contract/instantiate.h"

enum { DOUBLINGS = 120 };

/* The work that one of these configurations may take, in units of the cap. Some tensor may need that much to
 * become so large. */
static const double big_work = 2;

/* Returns a number of elements. Above it, signed 32-bit element offsets and unsigned 32-bit byte offsets
 * overflow; without `elements`, signed 32-bit byte offsets. */
static double threshold(const struct problem *problem, int tensor, bool elements)
{
    const double size = dtype_row(problem->tensors[tensor].dtype)->bits / 8.0;
    const double bytes = (elements ? 0x1p32 : 0x1p31) / size;
    return elements && bytes < 0x1p31 ? 0x1p31 : bytes;
}

/* Determines the number of elements of a tensor in memory, and the work. Returns false if no such instance
 * fits this machine. */
static bool measure(struct drawing *drawing, const struct config *config, int tensor, double *elements,
                    double *flops)
{
    struct instance instance;
    if (!costing_measure(&drawing->costing, config, &instance))
        return false;
    *elements = (double)instance_tensor_span(&instance.tensor[tensor]);
    *flops = instance.flops;
    instance_clear(&instance);
    return true;
}

/* Doubles the axis, or moves a list to its next value, up to the greatest. Returns false if it cannot
 * grow. */
static bool double_axis(const struct space *space, struct config *config, int axis)
{
    const struct domain *domain = &space->domain[axis];
    const int64_t from = config->value[axis];
    int64_t to = domain->value_count ? domain_next(domain, from, 1) : 2 * from;
    if (!domain->value_count && to > domain->high)
        to = domain->high;
    config->value[axis] = to;
    return to != from && draw_repair(space, config, axis) != REPAIR_FAILED;
}

/* Doubles the axis until the tensor grows. One step may not suffice: the first tokens of a sequence share a
 * page. */
static bool enlarge(struct drawing *drawing, struct config *config, int axis, int tensor, double *elements,
                    double *flops)
{
    const double now = *elements;
    for (int i = 0; i < DOUBLINGS && double_axis(drawing->space, config, axis); i++) {
        if (!measure(drawing, config, tensor, elements, flops))
            return false;
        if (*elements > now)
            return true;
    }
    return false;
}

/* Makes the tensor larger by one step, on the axis that adds most elements for its work. */
static bool grow(struct drawing *drawing, struct config *config, int tensor, double *elements)
{
    struct config best = *config;
    double most = 0, now = *elements, ignored;
    for (int i = 0; drawing->space->problem->axes[i].name; i++) {
        struct config tried = *config;
        double count = now, flops;
        if (!domain_is_number(drawing->space, i) || !enlarge(drawing, &tried, i, tensor, &count, &flops))
            continue;
        const double worth = count / now / (flops > 1 ? flops : 1);
        if (worth > most) {
            most = worth;
            best = tried;
        }
    }
    *config = best;
    return most > 0 && measure(drawing, config, tensor, elements, &ignored);
}

/* Finds a small configuration in which the tensor exceeds the threshold. */
static bool find_big(struct drawing *drawing, int tensor, double above, struct config *config)
{
    double elements, flops;
    if (draw_repair(drawing->space, config, -1) == REPAIR_FAILED ||
        !measure(drawing, config, tensor, &elements, &flops))
        return false;
    for (int i = 0; i < DOUBLINGS && elements <= above; i++)
        if (!grow(drawing, config, tensor, &elements))
            return false;
    return elements > above && space_contains(drawing->space, config, NULL);
}

/* Returns whether a configuration that was drawn here for another tensor makes this one exceed the threshold,
 * too. */
static bool have_big(struct drawing *drawing, int from, int tensor, double above)
{
    double elements, flops;
    for (int i = from; i < drawing->out->count; i++)
        if (measure(drawing, &drawing->out->item[i].config, tensor, &elements, &flops) && elements > above)
            return true;
    return false;
}

static enum big draw_tensor(struct drawing *drawing, int tensor, int from, struct pcg *stream)
{
    const struct problem *problem = drawing->space->problem;
    const struct cost allowed = {drawing->costing.cap.bytes, big_work * drawing->costing.cap.flops};
    enum big big = BIG_NEVER;
    for (int elements = 1; elements >= 0; elements--) {
        const double above = threshold(problem, tensor, elements);
        struct config config;
        struct cost cost;
        char why[96];
        if (have_big(drawing, from, tensor, above))
            return elements ? BIG_ELEMENTS : BIG_BYTES;
        draw_least(drawing->space, &config);
        config.seed = draw_config_seed(stream);
        if (!find_big(drawing, tensor, above, &config))
            continue;
        big = big == BIG_NEVER ? BIG_EXCLUDED : big;
        snprintf(why, sizeof why, "corner: %s beyond 2^31 %s", problem->tensors[tensor].name,
                 elements ? "elements and 2^32 bytes" : "bytes");
        if (draw_is_new(drawing, &config) && draw_cost_within(&drawing->costing, &config, &allowed, &cost)) {
            draw_accept(drawing, &config, &cost, why);
            return elements ? BIG_ELEMENTS : BIG_BYTES;
        }
    }
    return big;
}

/* Returns whether the tensor is a table of indices. Such tables are small compared with the tensors they
 * index. */
static bool is_table(const struct tensor *tensor)
{
    return tensor->role == TENSOR_INPUT && (tensor->dtype == DTYPE_I32 || tensor->dtype == DTYPE_I64);
}

void draw_big(struct drawing *drawing, struct pcg *stream)
{
    const int from = drawing->out->count;
    const struct tensor *tensors = drawing->space->problem->tensors;
    for (int t = 0; tensors[t].name && drawing->out->count < drawing->count; t++)
        if (!is_table(&tensors[t]))
            drawing->big[t] = draw_tensor(drawing, t, from, stream);
}
