/* The runner's work on a CUDA device. It uses the driver only, since the candidate has its own runtime. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner_hold.h"
#include "verify/device/driver.h"
#include "runner_internal.h"
#include "verify/util/defence.h"

#ifndef HAVE_CUDA

int device_open(int ordinal, char *text)
{
    (void)ordinal;
    driver_get(text, CHANNEL_TEXT);
    return FAILURE_DEVICE;
}

/* Never called: LOAD has failed. */
int device_map(struct slot *slot, int fd, size_t mapped, char *text)
{
    (void)slot, (void)fd, (void)mapped;
    driver_get(text, CHANNEL_TEXT);
    return FAILURE_DEVICE;
}

void device_unmap(struct slot *slot)
{
    (void)slot;
}

void *device_stream(void)
{
    return NULL;
}

void device_rest(struct reply *reply)
{
    (void)reply;
}

void device_call(const struct request *request, struct reply *reply)
{
    (void)request;
    reply->kind = REPLY_FAILED;
    reply->value = FAILURE_DEVICE;
}

#else

/* A multiple of every granule in use (2 MiB), and large enough that an access with a stride in the wrong unit
 * hits it. */
#define DEVICE_GUARD ((size_t)64 << 20)
/* Maximum time in nanoseconds to hold the stream while the host launches the candidate; and for CALL_ASK,
 * which checks for work in the meantime. */
#define HOLD_NS 300000u
#define HOLD_PYTHON_NS 3000000u /* Python needs longer until its launch */
#define ASK_NS 4000000u
/* CALL_ASK waits this long in milliseconds for work on other streams, or three times the previous call. */
#define ASK_LEAST_MS 0.5
#define ASK_MOST_MS 3

static struct {
    const struct driver *driver;
    int ordinal;
    CUcontext context;
    CUstream stream;
    struct hold hold;
    CUevent start, stop;
    double last_ms; /* duration of the last call */
    CUdeviceptr flush;
    size_t flush_bytes;
} device;

static int failed(CUresult result, const char *what, char *text)
{
    driver_explain(result, what, text, CHANNEL_TEXT);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? FAILURE_MEMORY : FAILURE_DEVICE;
}

int device_open(int ordinal, char *text)
{
    device.driver = driver_get(text, CHANNEL_TEXT);
    if (!device.driver)
        return FAILURE_DEVICE;
    CUdevice handle;
    device.ordinal = ordinal;
    CUresult result = device.driver->device_get(&handle, ordinal);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuDeviceGet", text);
    result = device.driver->primary_ctx_retain(&device.context, handle);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuDevicePrimaryCtxRetain", text);
    result = device.driver->ctx_set_current(device.context);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuCtxSetCurrent", text);
    /* Not CU_STREAM_NON_BLOCKING: work that a candidate puts on the legacy default stream is then still
     * ordered with this stream. */
    result = device.driver->stream_create(&device.stream, CU_STREAM_DEFAULT);
    device_state_keep(ordinal, device.context, device.stream);
    return result == CUDA_SUCCESS ? 0 : failed(result, "cuStreamCreate", text);
}

int device_map(struct slot *slot, int fd, size_t mapped, char *text)
{
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr base = 0;
    const char *step = "";
    device.driver->ctx_set_current(device.context);
    CUresult result =
        device.driver->mem_import(&handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuMemImportFromShareableHandle", text);
    result = driver_map_guarded(device.driver, device.ordinal, handle, mapped, DEVICE_GUARD, &base, &step);
    device.driver->mem_release(handle); /* the mapping keeps the memory */
    if (result != CUDA_SUCCESS)
        return failed(result, step, text);
    *slot = (struct slot){.base = (char *)(uintptr_t)base, .mapped = mapped, .guard = DEVICE_GUARD};
    return 0;
}

void device_unmap(struct slot *slot)
{
    device.driver->ctx_set_current(device.context);
    device.driver->ctx_synchronize(); /* unmapping is not ordered with streams */
    driver_unmap_guarded(device.driver, (CUdeviceptr)(uintptr_t)slot->base, slot->mapped, slot->guard);
}

static void device_error(CUresult result, const char *what, struct reply *reply)
{
    reply->kind = REPLY_DEVICE_ERROR;
    reply->value = (int32_t)result;
    driver_explain(result, what, reply->text, sizeof reply->text);
}

void *device_stream(void)
{
    return device.stream;
}

void device_rest(struct reply *reply)
{
    device.driver->ctx_set_current(device.context);
    const CUresult result = device.driver->ctx_synchronize();
    if (result != CUDA_SUCCESS)
        device_error(result, "before the call", reply);
}

static int grow_flush(size_t bytes, char *text)
{
    if (bytes <= device.flush_bytes)
        return 0;
    if (device.flush)
        device.driver->mem_free(device.flush);
    device.flush = 0;
    device.flush_bytes = 0;
    CUresult result = device.driver->mem_alloc(&device.flush, bytes);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuMemAlloc of the buffer that flushes L2", text);
    device.flush_bytes = bytes;
    return 0;
}

/* Creates the resources of a call on first use. */
static int prepare(const struct request *request, char *text)
{
    const char *step = "cuEventCreate";
    CUresult result = CUDA_SUCCESS;
    device.driver->ctx_set_current(device.context);
    if (!device.stop) {
        result = device.driver->event_create(&device.start, CU_EVENT_DEFAULT);
        if (result == CUDA_SUCCESS)
            result = device.driver->event_create(&device.stop, CU_EVENT_DEFAULT);
    }
    if (result == CUDA_SUCCESS)
        result = hold_open(&device.hold, device.driver, &step);
    return result == CUDA_SUCCESS ? grow_flush(request->flush_bytes, text) : failed(result, step, text);
}

/* Flushes data of earlier calls from the L2, including persisting lines, if the request has bytes to flush.
 * Waits until the device is idle. */
static CUresult make_cold(const struct request *request)
{
    CUresult result = CUDA_SUCCESS;
    device.driver->ctx_set_current(device.context);
    /* Devices without persisting L2 reject these two calls, and have nothing to reset. */
    if (request->flush_bytes > 0 && defence_is_on(DEFENCE_PERSISTING)) {
        device.driver->ctx_set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
        device.driver->ctx_reset_persisting_l2();
    }
    if (request->flush_bytes >= 4 && defence_is_on(DEFENCE_FLUSH))
        result = device.driver->memset_d32_async(device.flush, runner.sequence, request->flush_bytes / 4,
                                                 device.stream);
    return result == CUDA_SUCCESS ? device.driver->ctx_synchronize() : result;
}

/* Times by the host's clock from an idle device to an idle device, whichever streams the work uses. */
static CUresult call_by_wall(struct reply *reply)
{
    const double start = call_clock_ms();
    reply->value = call_candidate();
    device.driver->ctx_set_current(device.context);
    const CUresult result = device.driver->ctx_synchronize();
    reply->event_ms = reply->wall_ms = call_clock_ms() - start;
    return result;
}

/* Checks whether work is done although the stream has been held long enough. Such work is neither on this
 * stream nor waits for it, so the events do not measure it. */
static CUresult ask(const struct request *request, const struct hold_look *before, double start,
                    struct reply *reply)
{
    struct hold_look now;
    const double wait = fmin(ASK_MOST_MS, fmax(ASK_LEAST_MS, 3 * device.last_ms));
    while (call_clock_ms() - start < wait && hold_lasts(&device.hold))
        ;
    const CUresult result = hold_look(&device.hold, request, &now);
    reply->outside = result == CUDA_SUCCESS && hold_lasts(&device.hold) &&
                     memcmp(&now, before, request->tensors * sizeof now.word[0]) != 0;
    return result;
}

/* Times between events on the stream, which is held until the candidate returns. The wall clock starts when
 * the stream is released. */
static CUresult call_by_events(const struct request *request, struct reply *reply)
{
    float milliseconds = 0;
    struct hold_look before;
    const bool asks = request->mode == CALL_ASK;
    const uint64_t limit_ns = asks ? ASK_NS : runner.python ? HOLD_PYTHON_NS : HOLD_NS;
    CUresult result = asks ? hold_look(&device.hold, request, &before) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = hold_begin(&device.hold, device.stream, limit_ns);
    if (result == CUDA_SUCCESS)
        result = device.driver->event_record(device.start, device.stream);
    if (result != CUDA_SUCCESS)
        return result;
    const double start = call_clock_ms();
    reply->value = call_candidate();
    device.driver->ctx_set_current(device.context);
    if (asks)
        result = ask(request, &before, start, reply);
    /* The stop event is queued while the stream is held, so the time does not include the host's waiting for
     * a core. */
    CUresult then = device.driver->event_record(device.stop, device.stream);
    const double released = hold_lasts(&device.hold) ? call_clock_ms() : start + 1e-6 * (double)limit_ns;
    hold_end(&device.hold);
    if (then == CUDA_SUCCESS)
        then = device.driver->event_synchronize(device.stop);
    const double stopped = call_clock_ms();
    const CUresult last = device.driver->ctx_synchronize();
    const double idle = call_clock_ms();
    result = result != CUDA_SUCCESS ? result : then != CUDA_SUCCESS ? then : last;
    if (result == CUDA_SUCCESS)
        result = device.driver->event_elapsed_time(&milliseconds, device.start, device.stop);
    reply->event_ms = (double)milliseconds;
    reply->wall_ms = fmax(idle - released, 0);
    reply->tail_ms = idle - stopped;
    return result;
}

void device_call(const struct request *request, struct reply *reply)
{
    const int failure = prepare(request, reply->text);
    if (failure) {
        reply->kind = REPLY_FAILED;
        reply->value = failure;
        return;
    }
    reply->kind = REPLY_RETURNED;
    CUresult result = make_cold(request);
    if (result == CUDA_SUCCESS)
        result = request->mode == CALL_WALL ? call_by_wall(reply) : call_by_events(request, reply);
    device.last_ms = fmax(reply->event_ms, reply->wall_ms);
    if (result != CUDA_SUCCESS)
        device_error(result, "after the call", reply);
}

#endif
