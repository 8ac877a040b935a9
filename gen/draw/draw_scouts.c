/* Scouts: many small configurations beside a set of few. Most of what a kernel can branch on (a remainder, a choice, an input
 * class, two of them at once) small tensors show as well as large ones, at a hundredth of the work. */
#include "draw_internal.h"

#include <stdio.h>

int effort_scouts(enum effort effort)
{
    return effort == EFFORT_QUICK ? DRAW_SCOUTS : effort == EFFORT_STANDARD ? 600 : 1500;
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
    struct pcg *stream = draw_stream(&drawing, "scouts");
    const bool made = stream && know_others(&drawing) == 0;
    while (made && list->count < drawing.count && !drawing.no_memory && draw_new_random(&drawing, stream)) {
        struct drawn *const drawn = &list->item[list->count - 1];
        drawn->scout = true;
        snprintf(drawn->why, sizeof drawn->why, "scout");
    }
    pcg_free(stream);
    novelty_close(drawing.novelty);
    point_set_close(&drawing.used);
    return made && !drawing.no_memory && !drawing.costing.no_memory ? 0 : -1;
}
