/* Scouts: many small configurations beside a set of few. Most of what a kernel can branch on (a remainder, a choice, an input
 * class, two of them at once) small tensors show as well as large ones, at a hundredth of the work. */
#include "draw_internal.h"

#include <stdio.h>

int effort_scouts(enum effort effort)
{
    return effort == EFFORT_QUICK ? DRAW_SCOUTS : effort == EFFORT_STANDARD ? 750 : 1875;
}

int drawn_scouts(const struct drawn_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->item[i].scout;
    return count;
}

/* Less where the machine allows one configuration less. */
static struct draw_caps small_caps(const struct draw_caps *caps)
{
    struct draw_caps small = {.bytes = DRAW_SCOUT_BYTES, .flops = DRAW_SCOUT_FLOPS};
    if (caps && caps->bytes > 0 && caps->bytes < small.bytes)
        small.bytes = caps->bytes;
    if (caps && caps->flops > 0 && caps->flops < small.flops)
        small.flops = caps->flops;
    return small;
}

/* Neither seen nor drawn before; what is new is asked against both. */
static int know_others(struct drawing *drawing)
{
    const struct config_list *const seen = drawing->seen;
    const struct drawn_list *const out = drawing->out;
    drawing->novelty = novelty_open(drawing->space, seen->count > 0 ? seen : NULL);
    if (!drawing->novelty ||
        point_set_open(&drawing->used, (size_t)seen->count + (size_t)drawing->count) != 0)
        return -1;
    for (int i = 0; i < seen->count; i++)
        point_set_add(&drawing->used, &seen->item[i]);
    for (int i = 0; i < out->count; i++) {
        point_set_add(&drawing->used, &out->item[i].config);
        novelty_mark(drawing->novelty, &out->item[i].config);
    }
    return 0;
}

/* --- long ones, and those that look like a seen one --- */

/* One scout in eight has an axis of a few tiles' length, its other axes as small as that asks for, and one in sixteen has the shape of a
 * seen configuration but for its greatest axes: with a class of contents in turn, of the latter the sharpest. A mistake in merging what
 * tiles have found shows beyond one tile, in rows with infinities, NaN or exact sums; and a fast path is taken by the published window,
 * stride or group size, which a random draw hardly ever meets together. */
enum { ONE_LONG_IN = 8, ONE_ALIKE_IN = 16, LONG = 1024, LONGEST = 8192, ATTEMPTS = 20 };

static int64_t class_in_turn(const struct space *space, int turn)
{
    const struct domain *const domain = &space->domain[problem_input_axis(space->problem)];
    return domain->value[turn % domain->value_count];
}

/* Of those that show a dropped element at any size, where the contract has one. */
static int64_t sharp_class_in_turn(const struct space *space, int turn)
{
    const struct domain *const domain = &space->domain[problem_input_axis(space->problem)];
    int64_t sharp[SPACE_MAX_VALUES];
    int count = 0;
    for (int i = 0; i < domain->value_count; i++)
        if (space->problem->classes[domain->value[i]].discriminating > 0)
            sharp[count++] = domain->value[i];
    return count > 0 ? sharp[turn % count] : class_in_turn(space, turn);
}

static bool accept_scout(struct drawing *drawing, struct config *config, int kept, struct pcg *stream)
{
    struct cost cost;
    if (draw_repair(drawing->space, config, kept) == REPAIR_FAILED ||
        !draw_shrink_to_fit(drawing, config, kept, kept < 0 ? 0 : 1u << kept, kept >= 0, stream, &cost) ||
        !draw_is_new(drawing, config))
        return false;
    draw_accept(drawing, config, &cost, "random");
    return true;
}

/* Of an axis that reaches beyond LONG, up to LONGEST, a longer octave half as likely as the one before; 0: this one is not in the contract. */
static int64_t long_value(const struct domain *domain, struct pcg *stream)
{
    const int64_t most = domain->high > LONGEST ? LONGEST : domain->high;
    int64_t low = LONG;
    while (2 * low < most && pcg_below(stream, 2))
        low *= 2;
    const int64_t high = 2 * low < most ? 2 * low : most;
    const int64_t value = low + 1 + (int64_t)pcg_below(stream, (uint64_t)(high - low));
    return domain_contains(domain, value) ? value : 0;
}

static bool draw_long(struct drawing *drawing, int turn, struct pcg *stream)
{
    const struct space *const space = drawing->space;
    int axes[PROBLEM_MAX_AXES], count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && space->domain[i].value_count == 0 && space->domain[i].high > LONG)
            axes[count++] = i;
    for (int attempt = 0; count > 0 && attempt < ATTEMPTS; attempt++) {
        struct config config;
        const int axis = axes[(turn + attempt) % count];
        draw_random_values(space, &config, stream);
        config.value[axis] = long_value(&space->domain[axis], stream);
        config.value[problem_input_axis(space->problem)] = class_in_turn(space, turn / count);
        if (config.value[axis] > 0 && accept_scout(drawing, &config, axis, stream))
            return true;
    }
    return false;
}

static bool draw_alike(struct drawing *drawing, int turn, struct pcg *stream)
{
    const struct space *const space = drawing->space;
    for (int attempt = 0; drawing->seen->count > 0 && attempt < ATTEMPTS; attempt++) {
        struct config config = drawing->seen->item[(turn + attempt) % drawing->seen->count];
        config.seed = draw_config_seed(stream);
        config.value[problem_input_axis(space->problem)] =
            sharp_class_in_turn(space, turn / drawing->seen->count);
        if (accept_scout(drawing, &config, -1, stream))
            return true;
    }
    return false;
}

/* The number of the scout decides; where there is none of that kind, it is one like the others. `first`: the class of the first one. */
static bool draw_scout(struct drawing *drawing, int number, int first, struct pcg *stream[3])
{
    return (number % ONE_LONG_IN == 0 && draw_long(drawing, first + number / ONE_LONG_IN, stream[1])) ||
           (number % ONE_ALIKE_IN == 3 && draw_alike(drawing, first + number / ONE_ALIKE_IN, stream[2])) ||
           draw_new_random(drawing, stream[0]);
}

int draw_scouts(struct drawn_list *list, const struct space *space, const struct config_list *seen, int count,
                uint64_t seed, const struct draw_caps *caps)
{
    enum { TRIES = 500 };
    const struct draw_caps small = small_caps(caps);
    struct drawing drawing = {.mix = &draw_usual,
                              .space = space,
                              .seen = seen,
                              .out = list,
                              .seed = seed,
                              .count = list->count + count,
                              .tries = TRIES,
                              .costing = costing_of(space, &small),
                              .total = {HUGE_COST, HUGE_COST},
                              .budget = {1, 1}};
    struct pcg *stream[] = {draw_stream(&drawing, "scouts"), draw_stream(&drawing, "long scouts"),
                            draw_stream(&drawing, "scouts like seen ones")};
    const bool made = stream[0] && stream[1] && stream[2] && know_others(&drawing) == 0;
    const int before = list->count, first = made ? (int)pcg_below(stream[1], 1000) : 0;
    while (made && list->count < drawing.count && !drawing.no_memory &&
           draw_scout(&drawing, list->count - before, first, stream)) {
        struct drawn *const drawn = &list->item[list->count - 1];
        drawn->scout = true;
        snprintf(drawn->why, sizeof drawn->why, "scout");
    }
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++)
        pcg_free(stream[i]);
    novelty_close(drawing.novelty);
    point_set_close(&drawing.used);
    return made && !drawing.no_memory && !drawing.costing.no_memory ? 0 : -1;
}
