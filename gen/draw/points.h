/* A set of points, used to draw none twice. */
#ifndef UNSEEN_POINTS_H
#define UNSEEN_POINTS_H

#include "gen/contract/space.h"

/* Hash table with open addressing, at most half full. */
struct point_set {
    struct config *slot; /* an empty slot has a problem of NULL */
    size_t capacity;     /* a power of two */
};

/* Makes room for `points` points. Returns 0, or -1 when memory is out. */
int point_set_open(struct point_set *set, size_t points);
void point_set_close(struct point_set *set);

bool point_set_has(const struct point_set *set, const struct config *config);
void point_set_add(struct point_set *set, const struct config *config);

#endif
