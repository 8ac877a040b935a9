/* What the runner does on a CUDA device, through the driver alone: the candidate brings its own
 * runtime. */
#include <stdio.h>

#include "verify/device/driver.h"
#include "runner_internal.h"
#include "verify/system/defence.h"

#ifndef HAVE_CUDA

int device_open(int ordinal, char *text)
{
    (void)ordinal;
    driver_get(text, CHANNEL_TEXT);
    return FAILURE_DEVICE;
}

/* Nothing below is reached: LOAD has failed. */
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

void device_call(struct reply *reply)
{
    reply->kind = REPLY_FAILED;
    reply->value = FAILURE_DEVICE;
}

void device_time(const struct request *request, struct reply *reply)
{
    (void)request;
    device_call(reply);
}

#else

/* A multiple of every granule in use (2 MiB), and wide enough that a stride in the wrong unit
 * ends in it. */
#define DEVICE_GUARD ((size_t)64 << 20)
/* How long the stream is held while the host launches the candidate, in nanoseconds. */
#define DELAY_NS 40000ull

static struct {
    const struct driver *driver;
    int ordinal;
    CUcontext context;
    CUstream stream;
    CUfunction delay;
    CUevent start, stop;
    CUdeviceptr flush;
    size_t flush_bytes;
} device;

/* Spins until the global timer has advanced by its argument: it holds the stream while the host
 * launches the candidate, so that launch latency stays out of the events. It ends by itself
 * whatever happens. */
static const char delay_ptx[] = ".version 6.4\n"
                                ".target sm_75\n"
                                ".address_size 64\n"
                                ".visible .entry unseen_delay(.param .u64 nanoseconds)\n"
                                "{\n"
                                "    .reg .u64 %limit, %begin, %now, %passed;\n"
                                "    .reg .pred %more;\n"
                                "    ld.param.u64 %limit, [nanoseconds];\n"
                                "    mov.u64 %begin, %globaltimer;\n"
                                "SPIN:\n"
                                "    mov.u64 %now, %globaltimer;\n"
                                "    sub.u64 %passed, %now, %begin;\n"
                                "    setp.lt.u64 %more, %passed, %limit;\n"
                                "    @%more bra SPIN;\n"
                                "    ret;\n"
                                "}\n";

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
    /* Not CU_STREAM_NON_BLOCKING: a candidate that puts work on the legacy default stream is still
     * ordered with this one. */
    result = device.driver->stream_create(&device.stream, CU_STREAM_DEFAULT);
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

void device_call(struct reply *reply)
{
    device.driver->ctx_set_current(device.context); /* a candidate may have switched */
    reply->value = call_candidate();
    device.driver->ctx_set_current(device.context);
    reply->kind = REPLY_RETURNED;
    CUresult result = device.driver->ctx_synchronize();
    if (result != CUDA_SUCCESS)
        device_error(result, "after the call", reply);
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

/* Everything that timing needs and calling does not, made on the first use. */
static int prepare_timing(const struct request *request, char *text)
{
    CUmodule module;
    CUresult result;
    device.driver->ctx_set_current(device.context);
    if (!device.delay) {
        result = device.driver->event_create(&device.start, CU_EVENT_DEFAULT);
        if (result == CUDA_SUCCESS)
            result = device.driver->event_create(&device.stop, CU_EVENT_DEFAULT);
        if (result != CUDA_SUCCESS)
            return failed(result, "cuEventCreate", text);
        result = device.driver->module_load_data(&module, delay_ptx);
        if (result != CUDA_SUCCESS)
            return failed(result, "cuModuleLoadData of the delay kernel", text);
        result = device.driver->module_get_function(&device.delay, module, "unseen_delay");
        if (result != CUDA_SUCCESS)
            return failed(result, "cuModuleGetFunction of the delay kernel", text);
    }
    return grow_flush(request->flush_bytes, text);
}

/* Nothing of earlier calls in L2, persisting lines included, and the stream held for a moment. */
static CUresult make_cold(const struct request *request)
{
    unsigned long long delay_ns = DELAY_NS;
    void *arguments[] = {&delay_ns};
    CUresult result = CUDA_SUCCESS;
    device.driver->ctx_set_current(device.context);
    /* Devices without persisting L2 refuse these two; they have nothing to reset either. */
    if (defence_is_on(DEFENCE_PERSISTING)) {
        device.driver->ctx_set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
        device.driver->ctx_reset_persisting_l2();
    }
    if (request->flush_bytes >= 4 && defence_is_on(DEFENCE_FLUSH))
        result = device.driver->memset_d32_async(device.flush, runner.sequence, request->flush_bytes / 4,
                                                 device.stream);
    if (result == CUDA_SUCCESS)
        result = device.driver->ctx_synchronize();
    if (result == CUDA_SUCCESS)
        result =
            device.driver->launch_kernel(device.delay, 1, 1, 1, 1, 1, 1, 0, device.stream, arguments, NULL);
    if (result == CUDA_SUCCESS)
        result = device.driver->event_record(device.start, device.stream);
    return result;
}

/* One cold call. wall_ms includes what is left of the delay when the candidate starts launching. */
static CUresult take_sample(const struct request *request, struct reply *reply, int *value)
{
    float milliseconds = 0;
    CUresult result = make_cold(request);
    if (result != CUDA_SUCCESS)
        return result;
    double start = call_clock_ms();
    *value = call_candidate();
    device.driver->ctx_set_current(device.context);
    CUresult recorded = device.driver->event_record(device.stop, device.stream);
    result = device.driver->ctx_synchronize();
    double stop = call_clock_ms();
    if (result == CUDA_SUCCESS)
        result = recorded;
    if (result == CUDA_SUCCESS)
        result = device.driver->event_elapsed_time(&milliseconds, device.start, device.stop);
    reply->event_ms[reply->samples] = (double)milliseconds;
    reply->wall_ms[reply->samples] = stop - start;
    return result;
}

void device_time(const struct request *request, struct reply *reply)
{
    int failure = prepare_timing(request, reply->text);
    if (failure) {
        reply->kind = REPLY_FAILED;
        reply->value = failure;
        return;
    }
    reply->kind = REPLY_RETURNED;
    for (uint32_t i = 0; i < request->samples && reply->value == 0; i++) {
        int value = 0;
        fault_arm();
        CUresult result = take_sample(request, reply, &value);
        if (result != CUDA_SUCCESS) {
            device_error(result, "while timing", reply);
            return;
        }
        reply->value = value;
        reply->samples += value == 0;
    }
}

#endif
