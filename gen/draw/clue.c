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

int clue_list_add(struct clue_list *list, const struct clue *clue)
{
    for (int i = 0; i < list->count; i++)
        if (clue_same(&list->item[i], clue))
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
    return 0;
}

void clue_list_clear(struct clue_list *list)
{
    free(list->item);
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
