#include "points.h"

#include <stdlib.h>

int point_set_open(struct point_set *set, size_t points)
{
    for (set->capacity = 64; set->capacity < 2 * points;)
        set->capacity *= 2;
    set->slot = calloc(set->capacity, sizeof *set->slot);
    return set->slot ? 0 : -1;
}

void point_set_close(struct point_set *set)
{
    free(set->slot);
}

static size_t point_slot(const struct point_set *set, const struct config *config)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over whole values, followed by a final mix */
    for (int i = 0; config->problem->axes[i].name; i++)
        hash = (hash ^ (uint64_t)config->value[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    size_t at = (size_t)hash & (set->capacity - 1);
    while (set->slot[at].problem && !config_same_point(&set->slot[at], config))
        at = (at + 1) & (set->capacity - 1);
    return at;
}

bool point_set_has(const struct point_set *set, const struct config *config)
{
    return set->slot[point_slot(set, config)].problem != NULL;
}

void point_set_add(struct point_set *set, const struct config *config)
{
    set->slot[point_slot(set, config)] = *config;
}
