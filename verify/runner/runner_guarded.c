/* Guards for memory that a candidate in Python allocates itself. torch's allocator is replaced by the two
 * functions here before its first allocation (torch.cuda.memory.CUDAPluggableAllocator). A block ends at its
 * upper guard, except for the remainder of torch's own alignment, which is filled with poison. The block
 * itself initially has poison, too.
 *
 * Freed blocks are kept until the device is idle: queued work may still use them, as with torch's own
 * allocator. Blocks allocated during a graph's capture are kept forever, since replays use them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner_internal.h"
#include "runner_python.h"
#include "verify/device/driver.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *unseen_own_alloc(intptr_t bytes, int device, void *stream);
EXPORTED void unseen_own_free(void *memory, intptr_t bytes, int device, void *stream);

#ifndef HAVE_CUDA

void *unseen_own_alloc(intptr_t bytes, int device, void *stream)
{
    (void)bytes, (void)device, (void)stream;
    return NULL;
}

void unseen_own_free(void *memory, intptr_t bytes, int device, void *stream)
{
    (void)memory, (void)bytes, (void)device, (void)stream;
}

bool own_excuse(struct reply *reply)
{
    (void)reply;
    return false;
}

void own_settle(struct reply *reply)
{
    (void)reply;
}

void own_release(void)
{
}

#else

#define POISON_BYTE (DEVICE_POISON & 0xff)
/* Alignment of torch's allocator; guards are large enough that an access with a stride in the wrong unit hits
 * one. */
#define OWN_ALIGN ((size_t)512)
#define OWN_GUARD ((size_t)64 << 20)
/* Bytes before a block that are checked; below them are the rest of a granule and a guard. */
#define OWN_BEFORE ((size_t)8 << 10)

struct block {
    CUdeviceptr base; /* the mapping begins here */
    size_t mapped, bytes;
    CUdeviceptr memory; /* the address that the candidate gets */
    bool freed;
    bool captured; /* allocated during a graph's capture: not poisoned, and never released */
};

static struct {
    pthread_mutex_t lock;
    struct block *block;
    size_t count, room;
    bool used, is_short;
    CUstream stream; /* stream for the fills; NULL: none yet, or it cannot be created */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static void release(const struct driver *driver, struct block *block)
{
    driver_unmap_guarded(driver, block->base, block->mapped, OWN_GUARD);
}

/* Call it with an idle device, under the lock. */
static void release_freed(const struct driver *driver)
{
    size_t kept = 0;
    for (size_t i = 0; i < own.count; i++) {
        if (own.block[i].freed && !own.block[i].captured)
            release(driver, &own.block[i]);
        else
            own.block[kept++] = own.block[i];
    }
    own.count = kept;
}

static bool has_room(void)
{
    if (own.count < own.room)
        return true;
    struct block *grown = realloc(own.block, (2 * own.room + 64) * sizeof *grown);
    if (!grown)
        return false;
    own.block = grown;
    own.room = 2 * own.room + 64;
    return true;
}

static CUresult map_block(const struct driver *driver, int device, struct block *block)
{
    const CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    CUmemGenericAllocationHandle handle = 0;
    size_t granule = 0;
    const char *step;
    CUresult result = driver->mem_granularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return result;
    const size_t aligned = round_up(block->bytes, OWN_ALIGN);
    block->mapped = round_up(aligned, granule);
    result = driver->mem_create(&handle, block->mapped, &wanted, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = driver_map_guarded(driver, device, handle, block->mapped, OWN_GUARD, &block->base, &step);
    driver->mem_release(handle); /* the mapping keeps the memory */
    if (result == CUDA_SUCCESS)
        block->memory = block->base + block->mapped - aligned;
    return result;
}

static bool is_captured(const struct driver *driver, void *stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver->stream_is_capturing((CUstream)stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* New memory must contain its poison before it is handed out, whichever stream uses it first. A fill in the
 * candidate's stream could overwrite what another stream writes, since that stream need not wait. */
static CUresult fill_block(const struct driver *driver, const struct block *block, void *stream)
{
    if (!own.stream && driver->stream_create(&own.stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        own.stream = NULL;
    const CUresult result =
        driver->memset_d32_async(block->base, DEVICE_POISON, block->mapped / sizeof(uint32_t),
                                 own.stream ? own.stream : (CUstream)stream);
    return result == CUDA_SUCCESS && own.stream ? driver->stream_synchronize(own.stream) : result;
}

/* If memory is short, releases freed blocks and tries again, if it may wait for the device. Other failures
 * come from an earlier kernel, and the call ends with them. */
static CUresult make_block(const struct driver *driver, int device, void *stream, struct block *block)
{
    block->captured = is_captured(driver, stream);
    CUresult result = map_block(driver, device, block);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && !block->captured && driver->ctx_synchronize() == CUDA_SUCCESS) {
        release_freed(driver);
        result = map_block(driver, device, block);
    }
    if (result != CUDA_SUCCESS || block->captured)
        return result;
    result = fill_block(driver, block, stream);
    if (result != CUDA_SUCCESS) {
        release(driver, block);
        block->memory = 0;
    }
    return result;
}

/* Returns NULL on failure, which torch passes on; own_settle reports it if memory was short. */
void *unseen_own_alloc(intptr_t bytes, int device, void *stream)
{
    char text[CHANNEL_TEXT];
    const struct driver *const driver = driver_get(text, sizeof text);
    /* mapping is not stream work, so a capture may continue */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct block block = {.bytes = (size_t)bytes};
    if (!driver || bytes <= 0)
        return NULL;
    pthread_mutex_lock(&own.lock);
    own.used = true;
    driver->thread_exchange_capture_mode(&mode);
    const CUresult result =
        has_room() ? make_block(driver, device, stream, &block) : CUDA_ERROR_OUT_OF_MEMORY;
    own.is_short = own.is_short || result == CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        own.block[own.count++] = block;
    driver->thread_exchange_capture_mode(&mode);
    pthread_mutex_unlock(&own.lock);
    return (void *)(uintptr_t)block.memory;
}

void unseen_own_free(void *memory, intptr_t bytes, int device, void *stream)
{
    (void)bytes, (void)device, (void)stream;
    pthread_mutex_lock(&own.lock);
    for (size_t i = own.count; i-- > 0;)
        if (own.block[i].memory == (CUdeviceptr)(uintptr_t)memory) {
            own.block[i].freed = true;
            break;
        }
    pthread_mutex_unlock(&own.lock);
}

/* Is there poison from `at` on? */
static bool holds_poison(const struct driver *driver, CUdeviceptr at, size_t bytes, CUresult *result)
{
    unsigned char found[OWN_ALIGN];
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = at,
                                .srcPitch = bytes,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = found,
                                .dstPitch = bytes,
                                .WidthInBytes = bytes,
                                .Height = 1};
    if (bytes == 0)
        return true;
    *result = driver->memcpy_2d_async(&copy, device_stream());
    if (*result == CUDA_SUCCESS)
        *result = driver->stream_synchronize(device_stream());
    for (size_t i = 0; i < bytes && *result == CUDA_SUCCESS; i++)
        if (found[i] != POISON_BYTE)
            return false;
    return true;
}

/* Checks that nothing was written next to a block. */
static CUresult inspect(const struct driver *driver, const struct block *block, char *text)
{
    const CUdeviceptr end = block->memory + block->bytes;
    const size_t above = (size_t)(block->base + block->mapped - end),
                 lead = (size_t)(block->memory - block->base);
    const size_t below = lead < OWN_BEFORE ? lead : OWN_BEFORE;
    CUresult result = CUDA_SUCCESS;
    const char *side = NULL;
    if (!holds_poison(driver, end, above, &result))
        side = "after";
    for (size_t at = 0; at < below && !side && result == CUDA_SUCCESS; at += OWN_ALIGN)
        if (!holds_poison(driver, block->memory - below + at, OWN_ALIGN, &result))
            side = "before";
    if (result != CUDA_SUCCESS)
        driver_explain(result, "inspecting the guards of its own allocations", text, CHANNEL_TEXT);
    if (!side)
        return result;
    snprintf(text, CHANNEL_TEXT, "it wrote %s the %zu bytes of a tensor that it allocated itself", side,
             block->bytes);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

bool own_excuse(struct reply *reply)
{
    if (!runner.own || !own.is_short)
        return false;
    reply->kind = REPLY_RETURNED;
    reply->value = RETURNED_SHORT;
    snprintf(reply->text, sizeof reply->text, "no memory for its own allocations between guards");
    return true;
}

void own_settle(struct reply *reply)
{
    const struct driver *const driver = driver_get(reply->text, sizeof reply->text);
    if (!own.used || !driver || !runner.own || own_excuse(reply) || reply->kind == REPLY_DEVICE_ERROR)
        return;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&own.lock);
    for (size_t i = 0; i < own.count && result == CUDA_SUCCESS; i++)
        if (!own.block[i].captured)
            result = inspect(driver, &own.block[i], reply->text);
    if (result == CUDA_SUCCESS)
        release_freed(driver);
    pthread_mutex_unlock(&own.lock);
    if (result != CUDA_SUCCESS) {
        reply->kind = REPLY_DEVICE_ERROR;
        reply->value = (int32_t)result;
    }
}

void own_release(void)
{
    char text[CHANNEL_TEXT];
    const struct driver *const driver = driver_get(text, sizeof text);
    if (!own.used || !driver || !runner.own || driver->ctx_synchronize() != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&own.lock);
    release_freed(driver);
    pthread_mutex_unlock(&own.lock);
}

#endif
