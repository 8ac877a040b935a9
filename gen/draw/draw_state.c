#include "draw_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* --- streams --- */

struct pcg *draw_stream(struct drawing *drawing, const char *purpose)
{
    char name[96];
    snprintf(name, sizeof name, "%s/unseen/%s", drawing->space->problem->name, purpose);
    struct pcg *stream = pcg_new(drawing->seed, name);
    if (!stream)
        drawing->no_memory = true;
    return stream;
}

uint64_t draw_config_seed(struct pcg *stream)
{
    return pcg_below(stream, (uint64_t)1 << 31);
}

/* --- what one draw may cost --- */

static double allowance(const struct drawing *drawing, double total, double spent, double cap)
{
    const double wanted = drawing->count, made = drawing->out->count;
    const double left = wanted > made ? wanted - made : 1;
    const double share = total / (4 * wanted); /* a quarter of the total is reserved in equal shares */
    const double free = drawing->budget.part * total - spent - share * (left - 1);
    const double allowed = free * drawing->budget.grain < share ? share : free * drawing->budget.grain;
    return allowed < cap ? allowed : cap;
}

struct cost draw_allowance(const struct drawing *drawing)
{
    if (!costing_has_caps(&drawing->costing))
        return drawing->costing.cap;
    return (struct cost){
        allowance(drawing, drawing->total.bytes, drawing->spent.bytes, drawing->costing.cap.bytes),
        allowance(drawing, drawing->total.flops, drawing->spent.flops, drawing->costing.cap.flops)};
}

/* --- the set --- */

int drawn_list_add(struct drawn_list *list, const struct drawn *drawn)
{
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 64;
        struct drawn *const item = realloc(list->item, (size_t)capacity * sizeof *item);
        if (!item)
            return -1;
        list->item = item;
        list->capacity = capacity;
    }
    list->item[list->count++] = *drawn;
    return 0;
}

void draw_accept(struct drawing *drawing, const struct config *config, const struct cost *cost,
                 const char *why)
{
    struct drawn drawn = {.config = *config};
    snprintf(drawn.why, sizeof drawn.why, "%s", why);
    if (drawn_list_add(drawing->out, &drawn) != 0) {
        drawing->no_memory = true;
        return;
    }
    drawing->spent.bytes += cost->bytes;
    drawing->spent.flops += cost->flops;
    point_set_add(&drawing->used, config);
    if (drawing->novelty)
        novelty_mark(drawing->novelty, config);
}
