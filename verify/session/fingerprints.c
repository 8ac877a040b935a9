#include "fingerprints.h"

#include <stdlib.h>

void fingerprints_begin(struct fingerprints *prints, struct pcg *random, int base)
{
    *prints = (struct fingerprints){.key = pcg_next(random), .base = base, .first = prints->first};
}

static struct fingerprint *greatest_draw(struct fingerprints *prints)
{
    struct fingerprint *greatest = prints->item;
    for (int i = 1; i < prints->count; i++)
        if (prints->item[i].draw > greatest->draw)
            greatest = &prints->item[i];
    return greatest;
}

bool fingerprints_take(struct fingerprints *prints, struct buffers *buffers, struct pcg *random,
                       const struct fingerprint *print, const struct call *call)
{
    const uint64_t draw = pcg_next(random);
    const bool full = prints->count == FINGERPRINTS_MOST;
    struct fingerprint *place = full ? greatest_draw(prints) : &prints->item[prints->count];
    uint64_t sum;
    if (full && draw >= place->draw)
        return true;
    const int error = buffers_fingerprint(buffers, call, prints->key, &sum);
    if (error)
        return buffers->memory->is_shortage(error) ||
               status_failed(buffers->status, "taking a fingerprint", error);
    *place = *print;
    place->draw = draw;
    place->sum = sum;
    prints->count += !full;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct fingerprint *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

void fingerprints_sort(struct fingerprints *prints)
{
    qsort(prints->item, (size_t)prints->count, sizeof *prints->item, by_number);
}
