#include "runner_internal.h"
#include "runner_python.h"
#include "verify/device/driver.h"

#ifndef HAVE_CUDA

/* Never called: LOAD has failed. */
int python_copy_device(const struct python_tensor *tensor, char *text)
{
    (void)tensor;
    driver_get(text, CHANNEL_TEXT);
    return FAILURE_DEVICE;
}

bool python_poison_device(uint64_t address, uint64_t bytes)
{
    (void)address;
    (void)bytes;
    return false;
}

#else

/* Maximum pitch in bytes of a two-dimensional copy (CU_DEVICE_ATTRIBUTE_MAX_PITCH). */
#define MOST_PITCH ((size_t)0x7fffffff)

/* Copies `rows` rows of `bytes` each; `back` is dense. */
static CUresult copy_rows(const struct driver *driver, const struct python_tensor *t, size_t bytes,
                          size_t rows, size_t pitch)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = (CUdeviceptr)(uintptr_t)t->back,
                                .srcPitch = bytes,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = (CUdeviceptr)(uintptr_t)t->data,
                                .dstPitch = pitch,
                                .WidthInBytes = bytes,
                                .Height = rows};
    return driver->memcpy_2d_async(&copy, device_stream());
}

/* Copies in pieces that every device supports. */
static CUresult copy_dense(const struct driver *driver, const struct python_tensor *t, size_t bytes)
{
    struct python_tensor piece = *t;
    CUresult result = CUDA_SUCCESS;
    while (bytes > 0 && result == CUDA_SUCCESS) {
        const size_t part = bytes < MOST_PITCH / 2 ? bytes : MOST_PITCH / 2;
        result = copy_rows(driver, &piece, part, 1, part);
        piece.back = (char *)piece.back + part;
        piece.data = (char *)piece.data + part;
        bytes -= part;
    }
    return result;
}

int python_copy_device(const struct python_tensor *t, char *text)
{
    const struct driver *const driver = driver_get(text, CHANNEL_TEXT);
    const int last = t->rank - 1;
    const size_t size = (size_t)t->size;
    size_t rows = 1;
    if (!driver)
        return FAILURE_DEVICE;
    for (int d = 0; d < last; d++)
        rows *= (size_t)t->dim[d];
    const size_t width = t->rank ? (size_t)t->dim[last] * size : size;
    const size_t pitch = t->rank > 1 ? (size_t)t->stride[last - 1] * size : width;
    if (rows == 0 || width == 0)
        return 0;
    CUresult result = pitch == width || rows == 1 ? copy_dense(driver, t, rows * width)
                                                  : copy_rows(driver, t, width, rows, pitch);
    if (result == CUDA_SUCCESS)
        result = driver->ctx_synchronize();
    if (result != CUDA_SUCCESS)
        driver_explain(result, "after copying the returned tensors", text, CHANNEL_TEXT);
    return (int)result;
}

/* The device is idle before a call, and the call begins only after the work on this stream. */
bool python_poison_device(uint64_t address, uint64_t bytes)
{
    char text[CHANNEL_TEXT];
    const struct driver *const driver = driver_get(text, sizeof text);
    return driver && driver->memset_d32_async((CUdeviceptr)address, DEVICE_POISON, bytes / sizeof(uint32_t),
                                              device_stream()) == CUDA_SUCCESS;
}

#endif
