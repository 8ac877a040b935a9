/* A GPU as a device: properties, copy bandwidth, launch floor, and GEMM rates through cuBLASLt. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cublasLt.h>

#include "verify/system/clock.h"
#include "device.h"

int device_count_cuda(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

static __global__ void empty_kernel(void)
{
}

/* Median-free on purpose: the least of many is what the hardware can do. */
static double least_ms(int rounds, void (*work)(void *), void *argument)
{
    cudaEvent_t start, stop;
    float best = 1e30f;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int i = 0; i < rounds; i++) {
        float ms = 0;
        cudaEventRecord(start);
        work(argument);
        cudaEventRecord(stop);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        if (i > 0 && ms < best)
            best = ms;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return best;
}

static void launch_empty(void *argument)
{
    (void)argument;
    empty_kernel<<<1, 1>>>();
}

struct copy {
    void *to, *from;
    size_t bytes;
};

static void launch_copy(void *argument)
{
    const struct copy *copy = (const struct copy *)argument;
    cudaMemcpyAsync(copy->to, copy->from, copy->bytes, cudaMemcpyDeviceToDevice);
}

/* Far beyond the L2; bytes read plus bytes written. */
static double measure_copy(void)
{
    struct copy copy = {NULL, NULL, (size_t)1 << 30};
    double gbps = 0;
    if (!cudaMalloc(&copy.to, copy.bytes) && !cudaMalloc(&copy.from, copy.bytes)) {
        cudaMemset(copy.from, 0x5a, copy.bytes);
        gbps = 2.0 * (double)copy.bytes / least_ms(8, launch_copy, &copy) / 1e6;
    }
    cudaFree(copy.to);
    cudaFree(copy.from);
    cudaGetLastError();
    return gbps;
}

/* Keep this much of the pool between configurations instead of giving it back at every synchronization. */
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

enum device_status device_open_cuda(struct device *device, int ordinal, char *error, size_t error_size)
{
    struct cudaDeviceProp properties;
    int driver = 0;
    cudaError_t status = cudaSetDevice(ordinal);
    if (!status)
        status = cudaGetDeviceProperties(&properties, ordinal);
    if (!status)
        status = cudaFree(NULL); /* makes the context */
    if (status) {
        snprintf(error, error_size,
                 "cuda:%d cannot be used: %s\n---> check nvidia-smi, or use "
                 "--device host",
                 ordinal, cudaGetErrorString(status));
        return DEVICE_NONE;
    }
    cudaDriverGetVersion(&driver);
    device->backend = BACKEND_CUDA;
    device->ordinal = ordinal;
    snprintf(device->name, sizeof device->name, "%.120s", properties.name);
    snprintf(device->driver, sizeof device->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    format_uuid(&properties.uuid, device->uuid, sizeof device->uuid);
    device->capability = 10 * properties.major + properties.minor;
    snprintf(device->arch, sizeof device->arch, "%d%s", device->capability, properties.major >= 9 ? "a" : "");
    device->processors = properties.multiProcessorCount;
    device->memory_bytes = properties.totalGlobalMem;
    device->l2_bytes = (size_t)properties.l2CacheSize;
    keep_pool(ordinal);
    region_set_device(ordinal);
    device_vendor_ceilings(device->name, &device->vendor);
    device->launch_ms = least_ms(50, launch_empty, NULL);
    device->measured.gbps = measure_copy();
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

/* --- GEMM rates --- */

struct blas {
    cublasStatus_t (*create)(cublasLtHandle_t *);
    cublasStatus_t (*destroy)(cublasLtHandle_t);
    cublasStatus_t (*matmul)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
                             cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *,
                             const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,
                             const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t);
    cublasStatus_t (*desc_create)(cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t);
    cublasStatus_t (*desc_destroy)(cublasLtMatmulDesc_t);
    cublasStatus_t (*desc_set)(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t);
    cublasStatus_t (*layout_create)(cublasLtMatrixLayout_t *, cudaDataType_t, uint64_t, uint64_t, int64_t);
    cublasStatus_t (*layout_destroy)(cublasLtMatrixLayout_t);
    cublasLtHandle_t handle;
};

static int blas_open(struct blas *blas, char *error, size_t error_size)
{
    static const char *const names[] = {"libcublasLt.so." UNSEEN_CUBLAS_MAJOR, "libcublasLt.so",
                                        UNSEEN_CUDA_HOME "/lib64/libcublasLt.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(error, error_size,
                 "GEMM rates not measured: libcublasLt is not found\n---> put the "
                 "CUDA Toolkit's lib64 on LD_LIBRARY_PATH");
        return -1;
    }
    *(void **)&blas->create = dlsym(library, "cublasLtCreate");
    *(void **)&blas->destroy = dlsym(library, "cublasLtDestroy");
    *(void **)&blas->matmul = dlsym(library, "cublasLtMatmul");
    *(void **)&blas->desc_create = dlsym(library, "cublasLtMatmulDescCreate");
    *(void **)&blas->desc_destroy = dlsym(library, "cublasLtMatmulDescDestroy");
    *(void **)&blas->desc_set = dlsym(library, "cublasLtMatmulDescSetAttribute");
    *(void **)&blas->layout_create = dlsym(library, "cublasLtMatrixLayoutCreate");
    *(void **)&blas->layout_destroy = dlsym(library, "cublasLtMatrixLayoutDestroy");
    if (!blas->create || !blas->destroy || !blas->matmul || !blas->desc_create || !blas->desc_destroy ||
        !blas->desc_set || !blas->layout_create || !blas->layout_destroy || blas->create(&blas->handle)) {
        snprintf(error, error_size, "GEMM rates not measured: libcublasLt does not start");
        return -1;
    }
    return 0;
}

struct product {
    const struct blas *blas;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t in, out;
    void *a, *b, *c, *workspace;
    size_t workspace_bytes;
    bool wide; /* fp64 scalars */
    int failures;
};

static void launch_product(void *argument)
{
    struct product *p = (struct product *)argument;
    const double one_wide = 1, zero_wide = 0;
    const float one = 1, zero = 0;
    const void *alpha = p->wide ? (const void *)&one_wide : &one;
    const void *beta = p->wide ? (const void *)&zero_wide : &zero;
    if (p->blas->matmul(p->blas->handle, p->desc, alpha, p->a, p->in, p->b, p->in, beta, p->c, p->out, p->c,
                        p->out, NULL, p->workspace, p->workspace_bytes, 0))
        p->failures++;
}

/* Random-looking bits, or the matrix units draw less power and run faster than on real data. The mask
 * keeps every format finite. */
static __global__ void scramble(uint32_t *words, size_t count, uint32_t mask)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        words[i] = ((uint32_t)i * 2654435761u ^ (uint32_t)(i >> 7) * 40503u) & mask;
}

static const struct {
    enum rate rate;
    cublasComputeType_t compute;
    cudaDataType_t in, out;
    size_t in_bytes, out_bytes;
    uint32_t mask;
    int64_t n;
} formats[] = {
    {RATE_F64, CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, 8, 8, 0xbfffffffu, 4096},
    {RATE_F32, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_32F, 4, 4, 0xbfffffffu, 8192},
    {RATE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, 4, 4, 0xbfffffffu, 8192},
    {RATE_F16, CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F, 2, 2, 0xbbffbbffu, 8192},
    {RATE_BF16, CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, 2, 2, 0xbfffbfffu, 8192},
    {RATE_E4M3, CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, 1, 2, 0xb7b7b7b7u, 8192},
};

/* One square product, B transposed (the layout that every format has). 0 where it is not supported. */
static double measure_product(const struct blas *blas, size_t i)
{
    const int64_t n = formats[i].n;
    const size_t count = (size_t)(n * n);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    struct product p = {};
    double tflops = 0;
    p.blas = blas;
    p.wide = formats[i].rate == RATE_F64;
    p.workspace_bytes = (size_t)64 << 20;
    blas->desc_create(&p.desc, formats[i].compute, p.wide ? CUDA_R_64F : CUDA_R_32F);
    blas->desc_set(p.desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    blas->layout_create(&p.in, formats[i].in, (uint64_t)n, (uint64_t)n, n);
    blas->layout_create(&p.out, formats[i].out, (uint64_t)n, (uint64_t)n, n);
    if (!cudaMalloc(&p.a, count * formats[i].in_bytes) && !cudaMalloc(&p.b, count * formats[i].in_bytes) &&
        !cudaMalloc(&p.c, count * formats[i].out_bytes) && !cudaMalloc(&p.workspace, p.workspace_bytes)) {
        const size_t words = count * formats[i].in_bytes / 4;
        scramble<<<1024, 256>>>((uint32_t *)p.a, words, formats[i].mask);
        scramble<<<1024, 256>>>((uint32_t *)p.b, words, formats[i].mask);
        const double ms = least_ms(6, launch_product, &p);
        if (p.failures == 0 && !cudaDeviceSynchronize())
            tflops = 2.0 * (double)n * (double)n * (double)n / ms / 1e9;
    }
    cudaFree(p.a);
    cudaFree(p.b);
    cudaFree(p.c);
    cudaFree(p.workspace);
    blas->layout_destroy(p.in);
    blas->layout_destroy(p.out);
    blas->desc_destroy(p.desc);
    cudaGetLastError();
    return tflops;
}

int device_measure_rates_cuda(struct device *device, char *error, size_t error_size)
{
    struct blas blas;
    if (blas_open(&blas, error, error_size) != 0)
        return -1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        device->measured.tflops[formats[i].rate] = measure_product(&blas, i);
    blas.destroy(blas.handle);
    return 0;
}
