#include <errno.h>
#include <stdio.h>

#include "driver.h"
#include "region_internal.h"

#ifndef HAVE_CUDA

int region_cuda_create(struct region *region, int device, char *error, size_t error_size)
{
    (void)region, (void)device;
    driver_get(error, error_size);
    errno = ENOTSUP;
    return -1;
}

void region_cuda_destroy(struct region *region)
{
    (void)region;
}

#else

static int refuse(struct region *region, CUresult result, const char *what, char *error, size_t error_size)
{
    char cause[128];
    driver_explain(result, what, cause, sizeof cause);
    snprintf(error, error_size,
             "no device memory for a tensor of %zu bytes: %s\n---> lower the "
             "contract's limits, or free memory on the device",
             region->bytes, cause);
    errno = result == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO;
    return -1;
}

static CUmemAllocationProp shareable(int device)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
}

/* Maps without guards: this process's own kernels are trusted, and only the child needs guards. */
static int map_whole(struct region *region, const struct driver *driver, int device, char *error,
                     size_t error_size)
{
    CUdeviceptr base = 0;
    const char *failed = "";
    CUresult result = driver_map_guarded(driver, device, region->handle, region->mapped, 0, &base, &failed);
    if (result != CUDA_SUCCESS)
        return refuse(region, result, failed, error, error_size);
    region->base = (void *)(uintptr_t)base;
    return 0;
}

int region_cuda_create(struct region *region, int device, char *error, size_t error_size)
{
    const struct driver *driver = driver_get(error, error_size);
    if (!driver) {
        errno = ENODEV;
        return -1;
    }
    CUmemAllocationProp prop = shareable(device);
    size_t granule = 0;
    CUresult result = driver->mem_granularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return refuse(region, result, "cuMemGetAllocationGranularity", error, error_size);
    size_t mapped = region_round(region_least(region), granule);
    if (mapped == 0)
        return refuse(region, CUDA_ERROR_OUT_OF_MEMORY, "the size overflows", error, error_size);
    CUmemGenericAllocationHandle handle = 0;
    result = driver->mem_create(&handle, mapped, &prop, 0);
    if (result != CUDA_SUCCESS)
        return refuse(region, result, "cuMemCreate", error, error_size);
    region->mapped = mapped; /* from here on region_destroy has something to undo */
    region->handle = handle;
    result = driver->mem_export(&region->fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result != CUDA_SUCCESS) {
        region->fd = -1;
        return refuse(region, result, "cuMemExportToShareableHandle", error, error_size);
    }
    return map_whole(region, driver, device, error, error_size);
}

void region_cuda_destroy(struct region *region)
{
    char ignored[128];
    const struct driver *driver = driver_get(ignored, sizeof ignored);
    if (!driver)
        return;
    if (region->base && driver->memset_d32_async((CUdeviceptr)(uintptr_t)region->base, 0, region->mapped / 4,
                                                 NULL) == CUDA_SUCCESS)
        driver->ctx_synchronize();
    if (region->base)
        driver_unmap_guarded(driver, (CUdeviceptr)(uintptr_t)region->base, region->mapped, 0);
    driver->mem_release(region->handle);
}

#endif
