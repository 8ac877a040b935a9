/* Small regions that are used again. A run has hundreds of small configurations, and creating a region and
 * mapping it in two processes takes a GPU's driver longer than most of them run. A region of a pool has a
 * number. A candidate's process keeps its mapping (child_map), so that the next use costs neither side a call
 * of the driver.
 *
 * Reuse reveals nothing: before each call all bytes of a region are overwritten (buffers_place), and a
 * process maps a region only when it is used there. Regions of host memory are cheap, and none is kept. */
#ifndef UNSEEN_REGION_POOL_H
#define UNSEEN_REGION_POOL_H

#include "region.h"

enum { REGION_POOL_CLASSES = 2, REGION_POOL_FREE = 96 };

struct region_pool {
    struct {
        struct region item[REGION_POOL_FREE];
        int count;
    } free[REGION_POOL_CLASSES]; /* of 2 and 4 MiB */
    uint32_t made;               /* number of the latest region */
};

/* Like region_create, but a small region on a GPU may be one that was given back. */
int region_pool_take(struct region_pool *pool, struct region *region, enum backend backend, size_t bytes,
                     size_t align, char *error, size_t error_size);
/* Keeps the region for later, or destroys it. Accepts a zeroed region. */
void region_pool_give(struct region_pool *pool, struct region *region);
void region_pool_close(struct region_pool *pool); /* destroys the regions that are not in use */

#endif
