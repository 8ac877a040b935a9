#include "driver.h"

#include <stdio.h>

#ifndef HAVE_CUDA

const struct driver *driver_get(char *error, size_t error_size)
{
    snprintf(error, error_size,
             "this unseen was built without CUDA\n"
             "---> build it where cuda.h is found, or use --device host");
    return NULL;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct driver table;
static bool usable;
static char reason[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct entry {
    size_t offset; /* offset of the function pointer in struct driver */
    const char *symbol;
};

#define DRIVER_ENTRY(field, function, symbol) {offsetof(struct driver, field), symbol},
static const struct entry entries[] = {DRIVER_CALLS(DRIVER_ENTRY)};
#undef DRIVER_ENTRY

static void resolve(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, sizeof reason, "no CUDA driver: %s\n---> use --device host", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *found = dlsym(library, entries[i].symbol);
        if (!found) {
            snprintf(reason, sizeof reason,
                     "the CUDA driver has no %s; version 11.2 or later is "
                     "needed\n---> update the driver",
                     entries[i].symbol);
            return;
        }
        /* ISO C has no cast from an object to a function pointer; POSIX guarantees equal representations. */
        memcpy((char *)&table + entries[i].offset, &found, sizeof found);
    }
    CUresult result = table.init(0);
    if (result != CUDA_SUCCESS)
        driver_explain(result, "the CUDA driver does not start: cuInit", reason, sizeof reason);
    else
        usable = true;
}

const struct driver *driver_get(char *error, size_t error_size)
{
    pthread_once(&once, resolve);
    if (!usable)
        snprintf(error, error_size, "%s", reason);
    return usable ? &table : NULL;
}

void driver_explain(CUresult result, const char *what, char *error, size_t error_size)
{
    const char *name = NULL;
    if (!table.get_error_name || table.get_error_name(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown CUDA error";
    snprintf(error, error_size, "%s: %s (%d)", what, name, (int)result);
}

CUresult driver_map_guarded(const struct driver *driver, int device, CUmemGenericAllocationHandle handle,
                            size_t mapped, size_t guard, CUdeviceptr *base, const char **failed)
{
    CUdeviceptr reserved = 0;
    *failed = "cuMemAddressReserve";
    CUresult result = driver->mem_address_reserve(&reserved, mapped + 2 * guard, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return result;
    *failed = "cuMemMap";
    result = driver->mem_map(reserved + guard, mapped, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
        CUmemAccessDesc access = {
            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        *failed = "cuMemSetAccess";
        result = driver->mem_set_access(reserved + guard, mapped, &access, 1);
        if (result == CUDA_SUCCESS) {
            *base = reserved + guard;
            return result;
        }
        driver->mem_unmap(reserved + guard, mapped);
    }
    driver->mem_address_free(reserved, mapped + 2 * guard);
    return result;
}

void driver_unmap_guarded(const struct driver *driver, CUdeviceptr base, size_t mapped, size_t guard)
{
    driver->mem_unmap(base, mapped);
    driver->mem_address_free(base - guard, mapped + 2 * guard);
}

#endif
