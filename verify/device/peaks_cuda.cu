/* Ceilings of a GPU: copies, reads from the L2, products by cuBLASLt, and launch times of an empty kernel and
 * an empty graph. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cublasLt.h>

#include "driver.h"
#include "peaks.h"
#include "cuda_visible.h"

/* Returns the shortest of several times: what the hardware can do. */
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

/* --- memory --- */

struct copy {
    char *to, *from;
    size_t bytes;
};

static void launch_copy(void *argument)
{
    const struct copy *copy = (const struct copy *)argument;
    cudaMemcpyAsync(copy->to, copy->from, copy->bytes, cudaMemcpyDeviceToDevice);
}

/* Counts bytes read plus bytes written; 1 GiB is far larger than the L2. */
static double measure_copy(struct copy *copy)
{
    return copy->to && copy->from ? 2.0 * (double)copy->bytes / least_ms(8, launch_copy, copy) / 1e6 : 0;
}

enum { L2_THREADS = 512, L2_ROUNDS = 64 };

/* All blocks read the whole range, bypassing the L1, each starting at a different place. */
static __global__ void read_l2(const uint4 *data, size_t count, uint4 *sink)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (int round = 0; round < L2_ROUNDS; round++)
        for (size_t i = first; i < count; i += step) {
            const uint4 value = __ldcg(data + i);
            sum.x ^= value.x + round, sum.y ^= value.y, sum.z ^= value.z, sum.w ^= value.w;
        }
    if (sum.x == 0x9e3779b9u && sum.y == sum.z) /* the compiler cannot know that this never happens */
        *sink = sum;
}

struct reading {
    const struct device *device;
    const struct copy *copy;
    size_t at, bytes;
};

static void launch_reading(void *argument)
{
    const struct reading *r = (const struct reading *)argument;
    read_l2<<<4 * r->device->processors, L2_THREADS>>>((const uint4 *)(r->copy->from + r->at),
                                                       r->bytes / sizeof(uint4), (uint4 *)r->copy->to);
}

/* Uses a quarter of the L2, so that the data stays there. The rate depends by 5% and more on which half of
 * the L2 holds a page, and how far that is from the reader; this is fixed for an allocation. So the best of
 * several allocations counts. */
static double measure_l2(const struct device *device, const struct copy *copy)
{
    enum { PLACES = 16 };
    struct reading reading = {device, copy, 0, device->l2_bytes / 4 / sizeof(uint4) * sizeof(uint4)};
    double best = 0;
    if (!copy->to || !copy->from || reading.bytes == 0 || reading.bytes > copy->bytes / PLACES)
        return 0;
    for (int place = 0; place < PLACES; place++) {
        reading.at = copy->bytes / PLACES * (size_t)place;
        const double ms = least_ms(4, launch_reading, &reading);
        best = fmax(best, (double)L2_ROUNDS * (double)reading.bytes / ms / 1e6);
    }
    return best;
}

/* --- launches --- */

static __global__ void empty_kernel(void)
{
}

/* Occupies the stream while the host queues the following work. So the time to queue it, long on a busy
 * machine, is not part of a launch time; a candidate is timed in the same way. */
static __global__ void hold_stream(unsigned long long nanoseconds)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

enum { LAUNCHES = 64, BATCHES = 8 };

static float median(float *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, ascending);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

/* Times a call like a candidate's: queues all of it behind a kernel that occupies the stream. Writes
 * microseconds to sample. False: the device failed. */
static bool launch_in(cudaGraphExec_t graph, cudaStream_t stream, cudaEvent_t *event, float *sample)
{
    enum { HOLD_NS = 20000 };
    for (int i = 0; i < LAUNCHES; i++) {
        hold_stream<<<1, 1, 0, stream>>>(HOLD_NS);
        cudaEventRecord(event[2 * i], stream);
        if (graph)
            cudaGraphLaunch(graph, stream);
        else
            empty_kernel<<<1, 1, 0, stream>>>();
        cudaEventRecord(event[2 * i + 1], stream);
    }
    if (cudaStreamSynchronize(stream) != cudaSuccess)
        return false;
    for (int i = 0; i < LAUNCHES; i++) {
        if (cudaEventElapsedTime(&sample[i], event[2 * i], event[2 * i + 1]) != cudaSuccess)
            return false;
        sample[i] *= 1e3f;
    }
    return true;
}

/* The median of LAUNCHES times between two events, with a new stream and new events: their placement changes
 * the time by a few percent. 0: the device failed. */
static float launch_batch(cudaGraphExec_t graph)
{
    static float sample[LAUNCHES];
    cudaEvent_t event[2 * LAUNCHES] = {};
    cudaStream_t stream = NULL;
    bool ok = cudaStreamCreate(&stream) == cudaSuccess;
    for (int i = 0; i < 2 * LAUNCHES; i++)
        ok = cudaEventCreate(&event[i]) == cudaSuccess && ok;
    ok = ok && launch_in(graph, stream, event, sample);
    for (int i = 0; i < 2 * LAUNCHES; i++)
        if (event[i])
            cudaEventDestroy(event[i]);
    if (stream)
        cudaStreamDestroy(stream);
    cudaGetLastError();
    return ok ? median(sample, LAUNCHES) : 0;
}

/* The median of several batches; 0 if unavailable. `graph` NULL: an empty kernel. */
static double measure_launch(cudaGraphExec_t graph)
{
    float batch[BATCHES];
    for (int b = 0; b < BATCHES; b++)
        if ((batch[b] = launch_batch(graph)) <= 0)
            return 0;
    return median(batch, BATCHES);
}

static cudaGraphExec_t empty_graph(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launchable = NULL;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
        return NULL;
    empty_kernel<<<1, 1, 0, stream>>>();
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph &&
        cudaGraphInstantiateWithFlags(&launchable, graph, 0) != cudaSuccess)
        launchable = NULL;
    if (graph)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    return launchable;
}

/* --- products --- */

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
                 "CUDA Toolkit's lib64 on LD_LIBRARY_PATH and run unseen calibrate");
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
    bool wide; /* scalars of alpha and beta are fp64 */
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

/* Random-looking bits: with constant data the matrix units would draw less power and run faster than on real
 * data. The mask keeps every format finite. */
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

/* One square product with B transposed (a layout that every format supports). 0 if unsupported. */
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
        const double ms = least_ms(4, launch_product, &p);
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

/* --- all --- */

/* Launch times in the current context: of a kernel, and with `all` of a graph. */
static void measure_launches(bool all, struct figures *out)
{
    figures_round(out, FIGURE_LAUNCH, measure_launch(NULL));
    cudaStream_t stream = NULL;
    if (all && cudaStreamCreate(&stream) == cudaSuccess) {
        cudaGraphExec_t graph = empty_graph(stream);
        if (graph) {
            figures_round(out, FIGURE_GRAPH, measure_launch(graph));
            cudaGraphExecDestroy(graph);
        }
        cudaStreamDestroy(stream);
    }
    cudaGetLastError();
}

/* The placement of a context changes an empty kernel's time by about 5%, for the life of the context. So the
 * least of several new contexts counts; if none can be created, that of the current one. */
static void measure_in_contexts(const struct device *device, bool all, struct figures *out)
{
    enum { CONTEXTS = 12, SPOT_CONTEXTS = 2 };
    char why[300];
    const struct driver *const driver = driver_get(why, sizeof why);
    CUcontext before = NULL, context = NULL;
    if (!driver || driver->ctx_get_current(&before) != CUDA_SUCCESS) {
        measure_launches(all, out);
        return;
    }
    for (int i = 0; i < (all ? CONTEXTS : SPOT_CONTEXTS); i++) {
        const bool has_own = driver->ctx_create(&context, 0, device->ordinal) == CUDA_SUCCESS;
        measure_launches(all, out);
        if (has_own)
            driver->ctx_destroy(context);
        driver->ctx_set_current(before);
    }
}

/* Each round begins with copies, since launches on an idle device would run at its low clocks. */
static void measure_rounds(const struct device *device, const struct blas *blas, bool all,
                           struct figures *out)
{
    enum { ROUNDS = 5, SPOT_ROUNDS = 2 };
    struct copy copy = {NULL, NULL, (size_t)1 << 30};
    if (cudaMalloc(&copy.to, copy.bytes) || cudaMalloc(&copy.from, copy.bytes) ||
        cudaMemset(copy.from, 0x5a, copy.bytes)) {
        cudaFree(copy.to);
        copy.to = NULL;
    }
    for (int r = 0; r < (all ? ROUNDS : SPOT_ROUNDS); r++) {
        figures_round(out, FIGURE_COPY, measure_copy(&copy));
        if (all)
            figures_round(out, FIGURE_L2, measure_l2(device, &copy));
        for (size_t i = 0; blas && i < sizeof formats / sizeof *formats; i++)
            figures_round(out, (enum figure)(FIGURE_RATE + formats[i].rate), measure_product(blas, i));
    }
    cudaFree(copy.to);
    cudaFree(copy.from);
    cudaGetLastError();
    measure_in_contexts(device, all, out);
}

int peaks_measure_cuda(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size)
{
    struct blas blas;
    if (cudaSetDevice(device->ordinal) != cudaSuccess) {
        snprintf(error, error_size, "cuda:%d cannot be used\n---> check nvidia-smi", cuda_visible_chosen());
        return -1;
    }
    const bool multiplies = depth == PEAKS_ALL && blas_open(&blas, error, error_size) == 0;
    measure_rounds(device, multiplies ? &blas : NULL, depth == PEAKS_ALL, out);
    if (multiplies)
        blas.destroy(blas.handle);
    return depth == PEAKS_ALL && !multiplies ? -1 : 0;
}
