/* The cost of the tool's own parts beside the hardware's floor. The floor is bytes over the measured copy
 * bandwidth, or operations over the peak rate. Never a test: machines are noisy. */
#include <omp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "reference/judge.h"
#include "verify/util/clock.h"
#include "verify/device/peaks.h"
#include "verify/device/memory.h"

enum { ROUNDS = 5 };

/* One configuration laid out on a device, with an arbitrary output to judge. */
struct bench {
    const struct device *device;
    const struct memory *memory;
    const struct reference *reference;
    struct config config;
    struct instance instance;
    struct judge_request request;
    struct judge_report *report;
    void *tensor[PROBLEM_MAX_TENSORS];
    size_t bytes[PROBLEM_MAX_TENSORS];
    int tensors;
    float e4m3[256];
};

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(3);
}

static void open_bench(struct bench *b, const struct device *device, const char *problem, const char *line)
{
    struct space_error error;
    memset(b, 0, sizeof *b);
    b->device = device;
    b->memory = memory_of(device->backend);
    b->reference = reference_find(problem_find(problem), problem_first_output(problem_find(problem)));
    b->report = calloc(1, sizeof *b->report);
    if (config_parse(&b->config, problem_find(problem), line, "bench", &error) != 0)
        die(error.text);
    if (!b->report || config_instantiate(&b->config, 0, &b->instance) != 0)
        die("out of memory");
    for (int i = 0; i < 256; i++)
        b->e4m3[i] = (float)(i & 127) * (i & 128 ? -1.0f : 1.0f);
    b->request.problem = b->config.problem;
    b->request.context.data = b->instance.data;
    b->request.context.e4m3 = b->e4m3;
    memcpy(b->request.context.extent, b->instance.extent, sizeof b->instance.extent);
    memcpy(b->request.context.scalar, b->instance.scalar, sizeof b->instance.scalar);
    error_arithmetics(b->config.problem, device->capability, &b->request.arithmetics);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        b->request.sample[s] = -1;
    b->tensors = problem_tensor_count(b->config.problem);
    for (int t = 0; t < b->tensors; t++) {
        const struct tensor *tensor = &b->config.problem->tensors[t];
        b->bytes[t] = (size_t)dtype_bytes(tensor->dtype, instance_tensor_count(&b->instance.tensor[t]));
        if (b->memory->take(&b->tensor[t], b->bytes[t]) != 0)
            die("out of memory");
        if (tensor->role == TENSOR_OUTPUT) {
            b->memory->poison(b->tensor[t], b->bytes[t], 0x3c003c00u);
            b->request.output = t;
            b->request.got = b->tensor[t];
        } else {
            b->memory->fill(b->config.problem, &b->instance, t, 1, 0, b->tensor[t]);
        }
        b->request.context.tensor[t] = b->tensor[t];
    }
}

static void close_bench(struct bench *b)
{
    for (int t = 0; t < b->tensors; t++)
        b->memory->release(b->tensor[t]);
    instance_clear(&b->instance);
    free(b->report);
}

static double least_seconds(void (*work)(struct bench *), struct bench *b)
{
    double least = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        const double start = clock_seconds();
        work(b);
        const double seconds = clock_seconds() - start;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static void fill(struct bench *b)
{
    b->memory->fill(b->config.problem, &b->instance, 0, 2, 0, b->tensor[0]);
    b->memory->finish();
}

static void compare(struct bench *b)
{
    struct memory_search search = {.memory = b->tensor[0], .bytes = b->bytes[0], .other = b->tensor[1]};
    b->memory->search(&search, 1);
}

static void judge(struct bench *b)
{
    const int error = (b->device->backend == BACKEND_CUDA ? b->reference->judge_cuda
                                                          : b->reference->judge_host)(&b->request, b->report);
    if (error)
        die("judging failed");
}

static void print_row(const char *what, double seconds, double floor, const char *floor_of)
{
    printf("  %-58s %10.3f ms  floor %9.3f ms  x%-6.1f %s\n", what, 1e3 * seconds, 1e3 * floor,
           seconds / floor, floor_of);
}

static void bench_part(const struct device *device, const char *problem, const char *line, double operations,
                       double rate, const char *floor_of)
{
    struct bench b;
    char what[160];
    open_bench(&b, device, problem, line);
    double bytes = 0;
    for (int t = 0; t < b.tensors; t++)
        bytes += (double)b.bytes[t];
    const double memory = bytes / (device->measured.gbps * 1e9), compute = operations / rate;
    snprintf(what, sizeof what, "judge %s %s", problem, line);
    print_row(what, least_seconds(judge, &b), memory > compute ? memory : compute,
              memory > compute ? "bytes / copy bandwidth" : floor_of);
    close_bench(&b);
}

static void bench_memory(const struct device *device, const char *line)
{
    struct bench b;
    open_bench(&b, device, "softmax", line);
    const double rate = device->measured.gbps * 1e9;
    print_row("fill fp32 normal, the tensor above", least_seconds(fill, &b), (double)b.bytes[0] / rate,
              "bytes written / copy bandwidth");
    b.memory->copy(b.tensor[1], b.tensor[0], b.bytes[0]);
    print_row("compare two such tensors", least_seconds(compare, &b), 2 * (double)b.bytes[0] / rate,
              "bytes read / copy bandwidth");
    close_bench(&b);
}

/* MPFR on one element, the last. There is no hardware floor. The figure is the cost of a term, including its
 * transfer from a GPU. */
static void bench_witness(const struct device *device, const char *problem, const char *line, double terms)
{
    struct bench b;
    struct judged element = {.allowed = 1};
    struct witnessed answer;
    struct device_pages *fetcher = NULL;
    int64_t bytes[PROBLEM_MAX_TENSORS];
    open_bench(&b, device, problem, line);
    element.index = instance_tensor_count(&b.instance.tensor[b.request.output]) - 1;
    for (int t = 0; t < b.tensors; t++)
        bytes[t] = (int64_t)b.bytes[t];
    if (device->backend == BACKEND_CUDA)
        fetcher = device_pages_open(&b.request, bytes, b.tensors, b.memory->to_host, b.memory->gather);
    const double start = clock_seconds();
    if (b.reference->witness(&b.request, &element, &answer) != 0)
        die("out of memory");
    const double seconds = clock_seconds() - start;
    printf("  witness of one element of %-34s %10.3f ms  %9.1f ns a term (MPFR, %d cores at most)\n", problem,
           1e3 * seconds, 1e9 * seconds / terms, omp_get_max_threads());
    device_pages_close(fetcher);
    close_bench(&b);
}

static void measure(struct device *device)
{
    struct figures figures;
    char error[512];
    peaks_measure(device, PEAKS_SPOT, &figures, error, sizeof error);
    peaks_use(&figures, device);
}

static void bench_host(void)
{
    struct device device;
    char error[512];
    if (device_open(&device, "host", error, sizeof error) != 0)
        die(error);
    measure(&device);
    const double fma = device.measured.tflops[RATE_F32] * 1e12;
    printf("%s, %d cores: copy %.1f GB/s, fp32 %.3f TFLOP/s\n", device.name, device.processors,
           device.measured.gbps, device.measured.tflops[RATE_F32]);
    /* sum (2 half-rate operations), magnitude (1), square (2) for each term */
    bench_part(&device, "gemm_fp8", "m=512 n=512 k=512", 7.0 * 512 * 512 * 512, fma, "7 flops a term");
    bench_part(&device, "softmax", "rows=16 cols=131072", 2 * 40.0 * 16 * 131072, fma,
               "2 double exponentials, 20 flops at half rate each");
    bench_part(&device, "paged_attention",
               "batch=8 heads=16 kv_heads=4 head_dim=64 page_size=16 max_len=1000", 20.0 * 8 * 16 * 64 * 1000,
               fma, "20 flops a token and column");
    bench_memory(&device, "rows=16 cols=131072");
    bench_witness(&device, "gemm_fp8", "m=16 n=16 k=16384", 16384);
    bench_witness(&device, "softmax", "rows=1 cols=262144", 262144);
}

static void bench_cuda(void)
{
    struct device device;
    char error[512];
    if (device_open(&device, "cuda", error, sizeof error) != 0)
        die(error);
    measure(&device);
    printf("%s: copy %.0f GB/s (vendor %.0f)\n", device.name, device.measured.gbps, device.vendor.gbps);
    /* one fp64 FMA a term at half the matrix-unit fp64 rate; three fp32 operations beside it */
    bench_part(&device, "gemm_fp8", "m=4096 n=4096 k=4096", 2 * 4096.0 * 4096 * 4096, 33.5e12,
               "one fp64 FMA a term at 33.5 TFLOP/s");
    bench_part(&device, "softmax", "rows=1024 cols=262144", 2 * 60.0 * 1024 * 262144, 33.5e12,
               "2 double exponentials of 30 FMAs");
    bench_part(&device, "paged_attention",
               "batch=32 heads=32 kv_heads=8 head_dim=128 page_size=16 max_len=2048",
               20.0 * 32 * 32 * 128 * 2048, 33.5e12, "20 flops a token and column");
    bench_memory(&device, "rows=1024 cols=262144");
    bench_witness(&device, "gemm_fp8", "m=4096 n=4096 k=4096", 4096);
    bench_witness(&device, "gemm_f32", "m=16 n=16384 k=16384 trans_b=0", 16384);
    bench_witness(&device, "softmax", "rows=4 cols=262144", 262144);
    bench_witness(&device, "paged_attention",
                  "batch=4 heads=8 kv_heads=8 head_dim=64 page_size=1 max_len=131072", 131072 * 2 * 64);
    bench_witness(&device, "kda", "batch=1 t=16384 heads=16 dk=128 dv=128", 16384 * 128);
}

int main(void)
{
    bench_host();
    if (device_count_cuda() > 0)
        bench_cuda();
    return 0;
}
