/* Backend functions of region.c. `region` has backend and bytes set, fd -1 and base NULL. */
#ifndef UNSEEN_REGION_INTERNAL_H
#define UNSEEN_REGION_INTERNAL_H

#include "region.h"

int region_host_create(struct region *region, char *error, size_t error_size);
void region_host_destroy(struct region *region);
int region_cuda_create(struct region *region, int device, char *error, size_t error_size);
void region_cuda_destroy(struct region *region);

/* Free bytes before the tensor in the lower placement. */
size_t region_slack(const struct region *region);
/* Bytes that must be mapped so that both placements fit and differ; SIZE_MAX on overflow. */
size_t region_least(const struct region *region);
/* max(bytes, 1) rounded up to whole granules; 0 on overflow. */
size_t region_round(size_t bytes, size_t granule);

#endif
