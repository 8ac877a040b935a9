/* Restores the device's state before every call. The candidate keeps memory, modules, streams, graphs,
 * attributes of kernels and memory pools. It also keeps limits that it raised: a larger stack or heap is a
 * resource like any buffer. */
#include "runner_internal.h"

#ifndef HAVE_CUDA

void device_state_restore(void)
{
}

#else

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* field, function with the same type, name in libcuda.so.1. A driver that lacks a function lacks the state it
 * sets. */
#define STATE_CALLS(X)                                                                                       \
    X(device_get, cuDeviceGet, "cuDeviceGet")                                                                \
    X(set_current, cuCtxSetCurrent, "cuCtxSetCurrent")                                                       \
    X(get_state, cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState")                                   \
    X(set_flags, cuDevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags_v2")                                \
    X(get_limit, cuCtxGetLimit, "cuCtxGetLimit")                                                             \
    X(set_limit, cuCtxSetLimit, "cuCtxSetLimit")                                                             \
    X(get_cache, cuCtxGetCacheConfig, "cuCtxGetCacheConfig")                                                 \
    X(set_cache, cuCtxSetCacheConfig, "cuCtxSetCacheConfig")                                                 \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode")                  \
    X(is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                                              \
    X(end_capture, cuStreamEndCapture, "cuStreamEndCapture")                                                 \
    X(graph_destroy, cuGraphDestroy, "cuGraphDestroy")                                                       \
    X(set_attribute, cuStreamSetAttribute, "cuStreamSetAttribute")

#define STATE_FIELD(field, function, symbol) __typeof__(&function) field;
static struct {
    STATE_CALLS(STATE_FIELD)
} driver;
#undef STATE_FIELD

#define STATE_ENTRY(field, function, symbol) {offsetof(__typeof__(driver), field), symbol},
static const struct {
    size_t offset;
    const char *symbol;
} entries[] = {STATE_CALLS(STATE_ENTRY)};
#undef STATE_ENTRY

/* `exact`: a hint or a share of the cache; more of it is not a resource, so it is reset as well. */
static const struct {
    CUlimit limit;
    bool exact;
} limits[] = {
    {CU_LIMIT_STACK_SIZE, false},
    {CU_LIMIT_PRINTF_FIFO_SIZE, false},
    {CU_LIMIT_MALLOC_HEAP_SIZE, false},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, false},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, true},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, true},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static struct {
    bool present;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    bool has_flags, has_cache, has_limit[LIMITS];
    unsigned flags;
    CUfunc_cache cache;
    size_t limit[LIMITS];
} kept;

static bool resolve(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof entries / sizeof *entries; i++) {
        void *found = dlsym(library, entries[i].symbol);
        memcpy((char *)&driver + entries[i].offset, &found, sizeof found);
    }
    return driver.device_get && driver.set_current;
}

static bool get_flags(unsigned *flags)
{
    int active;
    return driver.get_state && driver.get_state(kept.device, flags, &active) == CUDA_SUCCESS;
}

void device_state_keep(int ordinal, CUcontext context, CUstream stream)
{
    if (kept.present || !resolve() || driver.device_get(&kept.device, ordinal) != CUDA_SUCCESS)
        return;
    kept.context = context;
    kept.stream = stream;
    kept.has_flags = get_flags(&kept.flags);
    kept.has_cache = driver.get_cache && driver.get_cache(&kept.cache) == CUDA_SUCCESS;
    if (driver.set_limit) /* as during timing */
        driver.set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
    for (int i = 0; i < LIMITS; i++)
        kept.has_limit[i] =
            driver.get_limit && driver.get_limit(&kept.limit[i], limits[i].limit) == CUDA_SUCCESS;
    kept.present = true;
}

static void restore_limits(void)
{
    for (int i = 0; i < LIMITS; i++) {
        size_t now;
        if (!kept.has_limit[i] || !driver.set_limit ||
            driver.get_limit(&now, limits[i].limit) != CUDA_SUCCESS)
            continue;
        if (limits[i].exact ? now != kept.limit[i] : now < kept.limit[i])
            driver.set_limit(limits[i].limit, kept.limit[i]);
    }
}

/* A capture left open would swallow the next call's work; a window of persisting lines would survive the
 * flush. */
static void restore_stream(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUstreamAttrValue none;
    CUgraph graph = NULL;
    memset(&none, 0, sizeof none);
    if (driver.capture_mode)
        driver.capture_mode(&mode);
    if (driver.is_capturing && driver.end_capture && driver.graph_destroy &&
        driver.is_capturing(kept.stream, &status) == CUDA_SUCCESS &&
        status != CU_STREAM_CAPTURE_STATUS_NONE && driver.end_capture(kept.stream, &graph) == CUDA_SUCCESS &&
        graph)
        driver.graph_destroy(graph);
    if (driver.set_attribute)
        driver.set_attribute(kept.stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &none);
}

void device_state_restore(void)
{
    unsigned flags;
    CUfunc_cache cache;
    if (!kept.present)
        return;
    driver.set_current(kept.context);
    if (kept.has_flags && driver.set_flags && get_flags(&flags) && flags != kept.flags)
        driver.set_flags(kept.device, kept.flags);
    if (kept.has_cache && driver.set_cache && driver.get_cache(&cache) == CUDA_SUCCESS && cache != kept.cache)
        driver.set_cache(kept.cache);
    restore_stream();
    restore_limits();
}

#endif
