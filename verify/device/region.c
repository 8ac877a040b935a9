#include "region.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "region_internal.h"

static int cuda_device;

void region_set_device(int device)
{
    cuda_device = device;
}

size_t region_slack(const struct region *region)
{
    return region->align < REGION_ALIGN ? region->align : 0;
}

/* Adds an alignment step: a tensor of whole granules, as published shapes often are, would fill them and have
 * the same address in both placements. */
size_t region_least(const struct region *region)
{
    const size_t beside = region_slack(region) + REGION_ALIGN;
    return region->bytes <= SIZE_MAX - beside ? region->bytes + beside : SIZE_MAX;
}

size_t region_offset(const struct region *region, enum placement placement)
{
    if (placement == PLACE_LOW)
        return region_slack(region);
    return (region->mapped - region->bytes) & ~(region->align - 1);
}

enum placement region_placement(enum placement placement, int t)
{
    return placement != PLACE_MIXED ? placement : t % 2 ? PLACE_LOW : PLACE_HIGH;
}

size_t region_round(size_t bytes, size_t granule)
{
    size_t granules = bytes / granule + (bytes % granule != 0);
    if (granules == 0)
        granules = 1;
    return granules > SIZE_MAX / granule ? 0 : granules * granule;
}

int region_create(struct region *region, enum backend backend, size_t bytes, size_t align, char *error,
                  size_t error_size)
{
    *region = (struct region){
        .backend = backend, .bytes = bytes, .align = align < REGION_ALIGN ? align : REGION_ALIGN, .fd = -1};
    int status = backend == BACKEND_CUDA ? region_cuda_create(region, cuda_device, error, error_size)
                                         : region_host_create(region, error, error_size);
    if (status) {
        int saved = errno;
        region_destroy(region);
        errno = saved;
    }
    return status;
}

void region_destroy(struct region *region)
{
    if (region->mapped == 0)
        return;
    if (region->backend == BACKEND_CUDA)
        region_cuda_destroy(region);
    else
        region_host_destroy(region);
    if (region->fd >= 0)
        close(region->fd);
    *region = (struct region){.backend = region->backend, .fd = -1};
}
