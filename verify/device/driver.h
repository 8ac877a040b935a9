/* The CUDA driver, loaded at run time: dlopen of libcuda.so.1, so that the binaries also run without a
 * driver. Symbols are looked up by the versioned names that match these signatures. */
#ifndef UNSEEN_DRIVER_H
#define UNSEEN_DRIVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct driver;

/* The function table, loaded and initialised (cuInit) once per process. Returns NULL without a usable driver;
 * error has the reason. Thread-safe. */
const struct driver *driver_get(char *error, size_t error_size);

#ifdef HAVE_CUDA
#include <cuda.h>

/* Only headers up to CUDA 12 declare this name; all drivers export it. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);

/* field, function with the same type, name in libcuda.so.1 */
#define DRIVER_CALLS(X)                                                                                      \
    X(init, cuInit, "cuInit")                                                                                \
    X(get_error_name, cuGetErrorName, "cuGetErrorName")                                                      \
    X(device_get, cuDeviceGet, "cuDeviceGet")                                                                \
    X(device_get_count, cuDeviceGetCount, "cuDeviceGetCount")                                                \
    X(primary_ctx_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                              \
    X(ctx_create, cuCtxCreate_v2, "cuCtxCreate_v2")                                                          \
    X(ctx_destroy, cuCtxDestroy, "cuCtxDestroy_v2")                                                          \
    X(ctx_get_current, cuCtxGetCurrent, "cuCtxGetCurrent")                                                   \
    X(ctx_set_current, cuCtxSetCurrent, "cuCtxSetCurrent")                                                   \
    X(ctx_synchronize, cuCtxSynchronize, "cuCtxSynchronize")                                                 \
    X(ctx_set_limit, cuCtxSetLimit, "cuCtxSetLimit")                                                         \
    X(ctx_reset_persisting_l2, cuCtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache")                   \
    X(mem_granularity, cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity")                       \
    X(mem_create, cuMemCreate, "cuMemCreate")                                                                \
    X(mem_release, cuMemRelease, "cuMemRelease")                                                             \
    X(mem_address_reserve, cuMemAddressReserve, "cuMemAddressReserve")                                       \
    X(mem_address_free, cuMemAddressFree, "cuMemAddressFree")                                                \
    X(mem_map, cuMemMap, "cuMemMap")                                                                         \
    X(mem_unmap, cuMemUnmap, "cuMemUnmap")                                                                   \
    X(mem_set_access, cuMemSetAccess, "cuMemSetAccess")                                                      \
    X(mem_export, cuMemExportToShareableHandle, "cuMemExportToShareableHandle")                              \
    X(mem_import, cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle")                          \
    X(mem_alloc, cuMemAlloc, "cuMemAlloc_v2")                                                                \
    X(mem_free, cuMemFree, "cuMemFree_v2")                                                                   \
    X(mem_host_alloc, cuMemHostAlloc, "cuMemHostAlloc")                                                      \
    X(memcpy_2d_async, cuMemcpy2DAsync, "cuMemcpy2DAsync_v2")                                                \
    X(memset_d32_async, cuMemsetD32Async, "cuMemsetD32Async")                                                \
    X(stream_create, cuStreamCreate, "cuStreamCreate")                                                       \
    X(stream_is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                                       \
    X(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode")  \
    X(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                                        \
    X(event_synchronize, cuEventSynchronize, "cuEventSynchronize")                                           \
    X(event_create, cuEventCreate, "cuEventCreate")                                                          \
    X(event_record, cuEventRecord, "cuEventRecord")                                                          \
    X(event_elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                                          \
    X(module_load_data, cuModuleLoadData, "cuModuleLoadData")                                                \
    X(module_get_function, cuModuleGetFunction, "cuModuleGetFunction")                                       \
    X(launch_kernel, cuLaunchKernel, "cuLaunchKernel")

#define DRIVER_FIELD(field, function, symbol) __typeof__(&function) field;
struct driver {
    DRIVER_CALLS(DRIVER_FIELD)
};
#undef DRIVER_FIELD

/* Fills error with "what: CUDA_ERROR_OUT_OF_MEMORY (2)". */
void driver_explain(CUresult result, const char *what, char *error, size_t error_size);

/* Reserves guard + mapped + guard bytes of device addresses and maps the allocation in the middle, readable
 * and writable by the device. The caller keeps the handle. Returns the driver's result; on failure nothing
 * stays mapped and *failed names the step. */
CUresult driver_map_guarded(const struct driver *driver, int device, CUmemGenericAllocationHandle handle,
                            size_t mapped, size_t guard, CUdeviceptr *base, const char **failed);
void driver_unmap_guarded(const struct driver *driver, CUdeviceptr base, size_t mapped, size_t guard);
#endif

#ifdef __cplusplus
}
#endif

#endif
