/* A set of points, to draw none twice. */
#ifndef UNSEEN_POINTS_H
#define UNSEEN_POINTS_H

#include "gen/contract/space.h"

/* Open addressing, at most half full. */
struct point_set {
    struct config *slot; /* an empty slot has no problem */
    size_t capacity;     /* a power of two */
};

/* Room for so many points. Returns 0, or -1 without memory. */
int point_set_open(struct point_set *set, size_t points);
void point_set_close(struct point_set *set);

bool point_set_has(const struct point_set *set, const struct config *config);
void point_set_add(struct point_set *set, const struct config *config);

#endif
