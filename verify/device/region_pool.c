#include "region_pool.h"

/* The granule of all drivers so far; with another one the classes are only less tight. */
static const size_t granule = (size_t)2 << 20;

/* The largest tensor of a class leaves room for both placements (region_create). */
static size_t capacity(int class)
{
    return (granule << class) - 2 * (size_t)REGION_ALIGN;
}

/* The class of a tensor; REGION_POOL_CLASSES: too large for a pool. */
static int class_of(size_t bytes)
{
    int class = 0;
    while (class < REGION_POOL_CLASSES && bytes > capacity(class))
        class ++;
    return class;
}

int region_pool_take(struct region_pool *pool, struct region *region, enum backend backend, size_t bytes,
                     size_t align, char *error, size_t error_size)
{
    const int class = class_of(bytes);
    if (backend != BACKEND_CUDA || class == REGION_POOL_CLASSES)
        return region_create(region, backend, bytes, align, error, error_size);
    if (pool->free[class].count > 0)
        *region = pool->free[class].item[--pool->free[class].count];
    else if (region_create(region, backend, capacity(class), align, error, error_size) != 0)
        return -1;
    else if (pool->made < REGION_POOL_MOST)
        region->number = ++pool->made;
    region->bytes = bytes;
    region->align = align < REGION_ALIGN ? align : REGION_ALIGN;
    return 0;
}

void region_pool_give(struct region_pool *pool, struct region *region)
{
    const int class = class_of(region->bytes);
    if (region->number == 0 || pool->free[class].count == REGION_POOL_FREE) {
        region_destroy(region);
        return;
    }
    pool->free[class].item[pool->free[class].count++] = *region;
    *region = (struct region){.backend = region->backend, .fd = -1};
}

void region_pool_close(struct region_pool *pool)
{
    for (int class = 0; class < REGION_POOL_CLASSES; class ++)
        while (pool->free[class].count > 0)
            region_destroy(&pool->free[class].item[--pool->free[class].count]);
}
