/* Orders a set: configurations come first that are likeliest to fail in a kernel that is correct only where
 * its author looked. The conditions such a kernel branches on are unknown. Many random ones stand for them
 * (branch.h), of which no published configuration meets any. The configuration that meets most of them comes
 * first, then the one that meets most of the others, and so on. Configurations that meet no further condition
 * keep their order at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "branch.h"
#include "draw_internal.h"

enum { WORDS = 32, BRANCHES = 64 * WORDS };

/* The conditions that a configuration meets, one bit each. */
struct branch_set {
    uint64_t word[WORDS];
};

struct ordering {
    const struct drawing *drawing;
    struct drawn *item; /* items to be ordered */
    int count;
    struct branch_set *taken; /* met by each item */
    struct branch_set open;   /* met by no item placed so far */
};

/* Notes which items meet the condition. Returns whether any does. */
static bool note_takes(struct ordering *o, const struct condition *condition, int branch)
{
    bool any = false;
    for (int i = 0; i < o->count; i++)
        if (condition_holds(condition, &o->item[i].config)) {
            o->taken[i].word[branch / 64] |= (uint64_t)1 << branch % 64;
            any = true;
        }
    return any;
}

/* Draws conditions and notes which items meet them. Returns 0, or -1 when memory is out. */
static int find_takes(struct ordering *o, struct pcg *stream)
{
    enum { TRIES = 20 * BRANCHES };
    const struct config_list *seen = o->drawing->seen;
    int found = 0;
    for (int tries = 0; found < BRANCHES && tries < TRIES; tries++) {
        struct branch branch;
        char why[256];
        if (!branch_draw(&branch, o->drawing->space, seen, stream))
            break;
        errno = 0;
        struct condition *condition =
            condition_parse(o->drawing->space->problem, branch.text, why, sizeof why);
        if (!condition && errno == ENOMEM)
            return -1;
        if (!condition) /* the language of conditions does not accept some names */
            continue;
        if (!branch_is_seen(condition, seen))
            found += note_takes(o, condition, found);
        condition_free(condition);
    }
    return 0;
}

static int open_branches(const struct ordering *o, int i)
{
    int count = 0;
    for (int w = 0; w < WORDS; w++)
        count += __builtin_popcountll(o->taken[i].word[w] & o->open.word[w]);
    return count;
}

/* Moves the item in from..count that meets most open conditions to `from`; the others keep their order.
 * Returns how many it meets. */
static int bring_best(struct ordering *o, int from)
{
    int best = from, most = -1;
    for (int i = from; i < o->count; i++) {
        const int open = open_branches(o, i);
        if (open > most) {
            most = open;
            best = i;
        }
    }
    const struct drawn item = o->item[best];
    const struct branch_set taken = o->taken[best];
    memmove(o->item + from + 1, o->item + from, (size_t)(best - from) * sizeof item);
    memmove(o->taken + from + 1, o->taken + from, (size_t)(best - from) * sizeof taken);
    o->item[from] = item;
    o->taken[from] = taken;
    for (int w = 0; w < WORDS; w++)
        o->open.word[w] &= ~taken.word[w];
    return most;
}

int draw_order(struct drawing *drawing, int from)
{
    const int count = drawing->out->count - from;
    struct ordering o = {.drawing = drawing,
                         .item = drawing->out->item + from,
                         .count = count,
                         .taken = calloc((size_t)count + 1, sizeof *o.taken)};
    struct pcg *stream = draw_stream(drawing, "order");
    const bool made = o.taken && stream && (count == 0 || find_takes(&o, stream) == 0);
    if (made) {
        memset(&o.open, 0xff, sizeof o.open);
        for (int i = 0; i < count && bring_best(&o, i) > 0; i++)
            continue;
    }
    pcg_free(stream);
    free(o.taken);
    return made ? 0 : -1;
}
