#include "clue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const relation_text[] = {
    [CLUE_LESS] = "<",           [CLUE_LESS_EQUAL] = "<=", [CLUE_EQUAL] = "==", [CLUE_NOT_EQUAL] = "!=",
    [CLUE_GREATER_EQUAL] = ">=", [CLUE_GREATER] = ">",     [CLUE_TILE] = "tile"};

const char *clue_relation_text(enum clue_relation relation)
{
    return relation_text[relation];
}

bool clue_same(const struct clue *a, const struct clue *b)
{
    if (a->terms != b->terms)
        return false;
    for (int i = 0; i < a->terms; i++)
        if (a->term[i].relation != b->term[i].relation ||
            strcmp(a->term[i].subject, b->term[i].subject) != 0 ||
            strcmp(a->term[i].bound, b->term[i].bound) != 0)
            return false;
    return true;
}

enum { SLOTS = 4 * CLUE_MOST }; /* a power of two */

static uint32_t hash_more(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The slot with an equal clue, or the free one where it belongs. */
static int *slot_of(const struct clue_list *list, const struct clue *clue)
{
    uint32_t at = 2166136261u;
    for (int i = 0; i < clue->terms; i++) {
        at = hash_more(at, clue->term[i].subject);
        at = (at ^ (uint32_t)clue->term[i].relation) * 16777619u;
        at = hash_more(at, clue->term[i].bound);
    }
    for (at ^= at >> 15; list->slot[at % SLOTS]; at++)
        if (clue_same(&list->item[list->slot[at % SLOTS] - 1], clue))
            break;
    return &list->slot[at % SLOTS];
}

int clue_list_add(struct clue_list *list, const struct clue *clue)
{
    if (!list->slot && !(list->slot = calloc(SLOTS, sizeof *list->slot)))
        return -1;
    int *const slot = slot_of(list, clue);
    if (*slot)
        return 0;
    if (list->count == CLUE_MOST) {
        list->truncated = true;
        return 0;
    }
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 64;
        struct clue *const item = realloc(list->item, (size_t)capacity * sizeof *item);
        if (!item)
            return -1;
        list->item = item;
        list->capacity = capacity;
    }
    list->item[list->count++] = *clue;
    *slot = list->count;
    return 0;
}

void clue_list_clear(struct clue_list *list)
{
    free(list->item);
    free(list->slot);
    *list = (struct clue_list){0};
}

int clue_format(const struct clue *clue, char *text, size_t size)
{
    size_t used = 0;
    if (size > 0)
        *text = '\0';
    for (int i = 0; i < clue->terms; i++) {
        const struct clue_term *const term = &clue->term[i];
        used +=
            (size_t)snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "%s%s %s %s",
                             i ? " and " : "", term->subject, relation_text[term->relation], term->bound);
    }
    return (int)used;
}
