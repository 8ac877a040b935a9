/* A GPU as a device: its properties, and our own kernel that occupies it. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "verify/util/clock.h"
#include "device.h"
#include "cuda_visible.h"

int device_count_cuda(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const char *device_trouble_cuda(void)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    return error != cudaSuccess ? cudaGetErrorString(error) : count == 0 ? "it counts none" : "";
}

/* Keeps this much pool memory between configurations instead of freeing it at every synchronization. */
static void keep_pool(int ordinal)
{
    cudaMemPool_t pool;
    uint64_t threshold = (uint64_t)2 << 30;
    if (!cudaDeviceGetDefaultMemPool(&pool, ordinal))
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
}

static void format_uuid(const cudaUUID_t *uuid, char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* Hides the other GPUs. A MIG instance has another name and other device nodes; then all devices that this
 * process sees stay visible. */
static void show_only(const struct device *device)
{
    char bus[32];
    if (!strstr(device->name, "MIG"))
        cuda_visible_set(device->uuid, cudaDeviceGetPCIBusId(bus, sizeof bus, device->ordinal)
                                           ? -1
                                           : cuda_visible_find_node(bus));
}

enum device_status device_open_cuda(struct device *device, char *error, size_t error_size)
{
    enum { ordinal = 0 }; /* the only visible device */
    const int number = cuda_visible_chosen() > 0 ? cuda_visible_chosen() : 0;
    struct cudaDeviceProp properties;
    int driver = 0, clock = 0, memory_clock = 0;
    cudaError_t status = cudaSetDevice(ordinal);
    if (!status)
        status = cudaGetDeviceProperties(&properties, ordinal);
    if (!status)
        status = cudaFree(NULL); /* creates the context */
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        snprintf(error, error_size,
                 "cuda:%d has no memory for a context: other programs hold it\n"
                 "---> end them (nvidia-smi lists them), or use another GPU",
                 number);
        return DEVICE_FULL;
    }
    if (status) {
        snprintf(error, error_size,
                 "cuda:%d cannot be used: %s\n---> check nvidia-smi, or use "
                 "--device host",
                 number, cudaGetErrorString(status));
        return DEVICE_NONE;
    }
    cudaDriverGetVersion(&driver);
    device->backend = BACKEND_CUDA;
    device->ordinal = ordinal;
    snprintf(device->name, sizeof device->name, "%.120s", properties.name);
    snprintf(device->driver, sizeof device->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    format_uuid(&properties.uuid, device->uuid, sizeof device->uuid);
    show_only(device);
    device->capability = 10 * properties.major + properties.minor;
    snprintf(device->arch, sizeof device->arch, "%d%s", device->capability, properties.major >= 9 ? "a" : "");
    device->processors = properties.multiProcessorCount;
    device->memory_bytes = properties.totalGlobalMem;
    device->l2_bytes = (size_t)properties.l2CacheSize;
    keep_pool(ordinal);
    region_set_device(ordinal);
    device_vendor_ceilings(device->name, &device->vendor);
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, ordinal);
    cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, ordinal);
    device->clock_mhz = clock / 1e3;
    device->memory_clock_mhz = memory_clock / 1e3;
    return DEVICE_OK;
}

/* --- control --- */

static __global__ void hold(unsigned long long nanoseconds)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}

int device_control_cuda(const struct device *device, double ms, double *event_ms, double *wall_ms)
{
    cudaEvent_t start = NULL, stop = NULL;
    float between = 0;
    cudaError_t status = cudaSetDevice(device->ordinal);
    if (!status)
        status = cudaEventCreate(&start);
    if (!status)
        status = cudaEventCreate(&stop);
    if (!status)
        status = cudaDeviceSynchronize();
    if (!status) {
        const double begin = clock_seconds();
        cudaEventRecord(start);
        hold<<<1, 1>>>((unsigned long long)(1e6 * ms));
        cudaEventRecord(stop);
        status = cudaDeviceSynchronize();
        *wall_ms = 1e3 * (clock_seconds() - begin);
        if (!status)
            status = cudaEventElapsedTime(&between, start, stop);
        *event_ms = between;
    }
    if (start)
        cudaEventDestroy(start);
    if (stop)
        cudaEventDestroy(stop);
    return status ? -1 : 0;
}

/* --- clocks --- */

static __global__ void count_cycles(unsigned long long nanoseconds, double *mhz)
{
    unsigned long long begin, now;
    const long long first = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
    *mhz = 1e3 * (double)(clock64() - first) / (double)(now - begin);
}

double device_sm_mhz_cuda(const struct device *device)
{
    enum { NS = 50000 };
    double *there = NULL, mhz = 0;
    cudaError_t status = cudaSetDevice(device->ordinal);
    if (!status)
        status = cudaMalloc(&there, sizeof *there);
    if (!status) {
        count_cycles<<<1, 1>>>(NS, there);
        status = cudaMemcpy(&mhz, there, sizeof mhz, cudaMemcpyDeviceToHost);
    }
    cudaFree(there);
    cudaGetLastError();
    return status ? 0 : mhz;
}
