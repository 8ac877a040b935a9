/* The state that a candidate finds on a real device: the same at every call, and nothing that others left in
 * memory. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/build/build.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"
#include "verify/device/cuda_visible.h"
#include "verify/worker/child.h"
#include "suites.h"

enum { COUNT = 1024, TIMEOUT = 100 };

/* A word that no other program writes; the first candidate's ends in b3. Kernels get both as sums. */
#define JUDGES_MARK 0x5ec2e7a1u

static struct device device;
static struct build built;
static struct child *child;
static struct region x, y;
static char text[1024];

/* Bit i of the return value of `spoils`: the i-th of these was not put back. */
static const char *const parts[] = {"the stack's limit",   "the heap's limit", "the printf buffer's limit",
                                    "fetch granularity",   "persisting L2",    "cache preference",
                                    "scheduling flags",    "current context",  "window of persisting lines",
                                    "the thread's capture"};
enum { PARTS = sizeof parts / sizeof *parts };

static const char state[] =
    "#include <cuda_runtime.h>\n#include <cstdint>\n#include <cstdio>\n#include <cstring>\n#include "
    "<dlfcn.h>\n"
    "#include <unistd.h>\n"
    "#define KERNEL(name) extern \"C\" int name(const float *x, float *y, int64_t n, cudaStream_t stream)\n"
    "static size_t limit(cudaLimit which) { size_t v = 0; cudaDeviceGetLimit(&v, which); return v; }\n"
    "static void *driver(const char *name) { return dlsym(dlopen(\"libcuda.so.1\", RTLD_NOW), name); }\n"
    "static void *current() { void *c = 0; ((int (*)(void **))driver(\"cuCtxGetCurrent\"))(&c); return c; }\n"
    "static unsigned flags_now() { unsigned f = 0; int active, d = 0; cudaFree(0); cudaGetDevice(&d);\n"
    "    ((int (*)(int, unsigned *, int *))driver(\"cuDevicePrimaryCtxGetState\"))(d, &f, &active); return "
    "f; }\n"
    "static size_t window(cudaStream_t s) { cudaStreamAttrValue v; memset(&v, 0, sizeof v);\n"
    "    cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);\n"
    "    return v.accessPolicyWindow.num_bytes; }\n"
    "static const cudaLimit limits[] = {cudaLimitStackSize, cudaLimitMallocHeapSize, "
    "cudaLimitPrintfFifoSize,\n"
    "    cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize};\n"
    "KERNEL(spoils) { static size_t first[5]; static int calls; static void *context; static unsigned "
    "flags;\n"
    "    unsigned f = flags_now(); cudaFuncCache c; int wrong = 0; (void)x, (void)n; cudaFree(0);\n"
    "    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;\n"
    "    if (calls++ == 0) { context = current(); flags = f;\n"
    "        for (int i = 0; i < 5; i++) first[i] = limit(limits[i]); }\n"
    "    for (int i = 0; i < 5; i++) wrong |= (limit(limits[i]) != first[i]) << i;\n"
    "    cudaDeviceGetCacheConfig(&c); wrong |= (c != cudaFuncCachePreferNone) << 5;\n"
    "    wrong |= (f != flags) << 6; wrong |= (current() != context) << 7;\n"
    "    wrong |= (window(stream) != 0) << 8; cudaThreadExchangeStreamCaptureMode(&mode);\n"
    "    wrong |= (mode != cudaStreamCaptureModeGlobal) << 9;\n"
    "    cudaDeviceSetLimit(cudaLimitStackSize, 512); cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);\n"
    "    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16);\n"
    "    cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32);\n"
    "    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);\n"
    "    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1); cudaSetDeviceFlags(cudaDeviceScheduleYield);\n"
    "    cudaStreamAttrValue v; memset(&v, 0, sizeof v); v.accessPolicyWindow.base_ptr = y;\n"
    "    v.accessPolicyWindow.num_bytes = 4096; v.accessPolicyWindow.hitRatio = 1;\n"
    "    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;\n"
    "    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &v);\n"
    "    cudaGetLastError(); ((int (*)(void *))driver(\"cuCtxSetCurrent\"))(0); return wrong; }\n"
    "KERNEL(keeps) { static float *mine; static size_t stack; (void)x, (void)y, (void)n, (void)stream;\n"
    "    float got = 0, want = 5; int wrong;\n"
    "    if (!mine) { cudaMalloc(&mine, 4); cudaMemcpy(mine, &want, 4, cudaMemcpyHostToDevice);\n"
    "        cudaDeviceSetLimit(cudaLimitStackSize, 8192); stack = limit(cudaLimitStackSize); }\n"
    "    wrong = cudaMemcpy(&got, mine, 4, cudaMemcpyDeviceToHost) != cudaSuccess;\n"
    "    return wrong + 2 * (got != want) + 4 * (limit(cudaLimitStackSize) != stack); }\n";

/* Devices that the runtime counts, plus 100 for each GPU with a device node. */
static const char others[] = "KERNEL(counts) { char node[32]; int all = 0; (void)x, (void)y, (void)n, "
                             "(void)stream;\n"
                             "    for (int i = 0; i < 32; i++) { snprintf(node, sizeof node, "
                             "\"/dev/nvidia%d\", i);\n"
                             "        all += 100 * (access(node, F_OK) == 0); }\n"
                             "    int count = 0; cudaGetDeviceCount(&count); return all + count; }\n";

/* `searches` takes all free memory, writes nothing, and counts words that equal either mark: 1000 stands for
 * more. `leaves` writes its mark all over 2 GiB and ends without freeing them. */
static const char memory[] =
    "__global__ void fill(unsigned *p, size_t n, unsigned a, unsigned b) {\n"
    "    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) p[i] = a + b; }\n"
    "__global__ void look(const unsigned *p, size_t n, unsigned a, unsigned b, unsigned c, unsigned *found) "
    "{\n"
    "    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull)\n"
    "        if (p[i] == a + b || p[i] == a + c) atomicAdd(found, 1u); }\n"
    "KERNEL(leaves) { unsigned *p; (void)x, (void)y, (void)n; if (cudaMalloc(&p, 1ull << 31)) return 1;\n"
    "    fill<<<1024, 256, 0, stream>>>(p, 1ull << 29, 0x5ec20000u, 0xe7b3u); return 0; }\n"
    "KERNEL(controls) { unsigned *p, *found, host = 0; (void)x, (void)y, (void)n; cudaMalloc(&p, 1 << 20);\n"
    "    cudaMalloc(&found, 4); cudaMemset(found, 0, 4);\n"
    "    fill<<<64, 256, 0, stream>>>(p, 1 << 18, 0x5ec20000u, 0xe7b3u);\n"
    "    look<<<64, 256, 0, stream>>>(p, 1 << 18, 0x5ec20000u, 0xe7a1u, 0xe7b3u, found);\n"
    "    cudaMemcpyAsync(&host, found, 4, cudaMemcpyDeviceToHost, stream); cudaStreamSynchronize(stream);\n"
    "    return host > 1000 ? 1000 : (int)host; }\n"
    "KERNEL(searches) { unsigned *found, host = 0; size_t have = 0, total; (void)x, (void)y, (void)n;\n"
    "    cudaMalloc(&found, 4); cudaMemset(found, 0, 4); cudaMemGetInfo(&have, &total);\n"
    "    for (size_t piece = 1ull << 30; piece >= 1 << 21 && have > 1ull << 30;) { unsigned *p;\n"
    "        if (cudaMalloc(&p, piece)) { cudaGetLastError(); piece /= 2; continue; }\n"
    "        look<<<1024, 256, 0, stream>>>(p, piece / 4, 0x5ec20000u, 0xe7a1u, 0xe7b3u, found);\n"
    "        cudaMemGetInfo(&have, &total); }\n"
    "    if (cudaMemcpyAsync(&host, found, 4, cudaMemcpyDeviceToHost, stream) || "
    "cudaStreamSynchronize(stream)) return -1;\n"
    "    return host > 1000 ? 1000 : (int)host; }\n";

static void open_all(void)
{
    char path[] = "/tmp/unseen-test-XXXXXX.cu", error[4096];
    ck_assert_msg(device_open(&device, "cuda", error, sizeof error) == 0, "%s", error);
    const int fd = mkstemps(path, 3);
    ck_assert_int_ge(fd, 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "%s%s%s", state, memory, others);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device.arch, .timeout = 120};
    ck_assert_msg(build_candidate(&built, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
    ck_assert_int_eq(region_create(&x, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
    ck_assert_int_eq(region_create(&y, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
}

static void close_all(void)
{
    child_stop(child);
    child = NULL;
    region_destroy(&x);
    region_destroy(&y);
    build_clear(&built);
}

static void start(const char *symbol)
{
    const struct child_options options = {.backend = BACKEND_CUDA,
                                          .device = device.ordinal,
                                          .object = built.object,
                                          .symbol = symbol,
                                          .load_timeout = TIMEOUT,
                                          .threads = 2};
    child_stop(child);
    ck_assert_msg(child_start(&child, &options, text, sizeof text) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 0, 0, &x, text, sizeof text) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 0, 1, &y, text, sizeof text) == CHILD_OK, "%s", text);
}

static int call_once(enum call_mode mode)
{
    const struct call call = {.tensors = 2,
                              .arguments = 1,
                              .argument = {{.value.whole = COUNT}},
                              .flush_bytes = 1 << 20,
                              .mode = mode};
    struct child_answer answer = {.returned = -1};
    ck_assert_msg(child_call(child, &call, TIMEOUT, &answer, text, sizeof text) == CHILD_OK, "%s", text);
    return answer.returned;
}

START_TEST(every_call_finds_the_device_as_the_first_did)
{
    static const enum call_mode modes[] = {CALL_EVENTS, CALL_EVENTS, CALL_ASK, CALL_WALL, CALL_EVENTS};
    open_all();
    start("spoils");
    for (int i = 0; i < 5; i++) {
        const int wrong = call_once(modes[i]);
        for (int part = 0; part < PARTS; part++)
            ck_assert_msg(!(wrong >> part & 1), "%s: not put back (all: 0x%x)", parts[part], (unsigned)wrong);
    }
    close_all();
}
END_TEST

START_TEST(what_a_kernel_keeps_on_the_device_is_left_alone)
{
    open_all();
    start("keeps");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(call_once(CALL_EVENTS), 0);
    close_all();
}
END_TEST

/* The pool returns the same block again, unchanged: without the overwriting this finds the mark. */
START_TEST(memory_that_the_judge_gives_back_is_clean)
{
    enum { BYTES = 64 << 20 };
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    unsigned *host = malloc(BYTES);
    void *there;
    int64_t found = 0;
    open_all();
    ck_assert_ptr_nonnull(host);
    ck_assert_int_eq(gpu->take(&there, BYTES), 0);
    ck_assert_int_eq(gpu->poison(there, BYTES, JUDGES_MARK), 0);
    gpu->release(there);
    ck_assert_int_eq(gpu->take(&there, BYTES), 0);
    ck_assert_int_eq(gpu->to_host(host, there, 0, BYTES), 0);
    for (size_t i = 0; i < BYTES / sizeof *host; i++)
        found += host[i] == JUDGES_MARK;
    ck_assert_int_eq(found, 0);
    gpu->release(there);
    free(host);
    close_all();
}
END_TEST

/* Another process's memory, and memory that the judge gives back while the candidate lives. Where the driver
 * clears memory, this checks its promise, too. */
START_TEST(a_candidate_finds_nothing_that_others_left)
{
    enum { BYTES = 256 << 20 };
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    struct region region;
    void *there;
    open_all();
    start("leaves");
    ck_assert_int_eq(call_once(CALL_EVENTS), 0);
    start("searches");
    ck_assert_int_eq(gpu->take(&there, BYTES), 0);
    ck_assert_int_eq(gpu->poison(there, BYTES, JUDGES_MARK), 0);
    ck_assert_int_eq(region_create(&region, BACKEND_CUDA, BYTES, REGION_ALIGN, text, sizeof text), 0);
    ck_assert_int_eq(gpu->poison(region.base, BYTES, JUDGES_MARK), 0);
    gpu->release(there);
    region_destroy(&region);
    ck_assert_int_eq(call_once(CALL_EVENTS), 0);
    close_all();
}
END_TEST

/* The search is worth something: it sees the mark where it is. */
START_TEST(the_search_sees_what_is_there)
{
    open_all();
    start("controls");
    ck_assert_int_eq(call_once(CALL_EVENTS), 1000);
    close_all();
}
END_TEST

/* The last one where there are several. */
START_TEST(a_candidate_sees_one_gpu)
{
    char spec[32], error[1024];
    const int count = device_count_apart();
    open_all();
    snprintf(spec, sizeof spec, "cuda:%d", count - 1);
    ck_assert_msg(device_open(&device, spec, error, sizeof error) == 0, "%s", error);
    region_destroy(&x);
    region_destroy(&y);
    ck_assert_int_eq(region_create(&x, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
    ck_assert_int_eq(region_create(&y, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
    start("counts");
    const int seen = call_once(CALL_EVENTS);
    ck_assert_int_eq(seen % 100, 1);
    if (cuda_visible_node() >= 0 && strstr(child_sandbox(), "bubblewrap: "))
        ck_assert_int_eq(seen / 100, 1);
    close_all();
}
END_TEST

TCase *gpu_state_case(void)
{
    TCase *tcase = tcase_create("state");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, every_call_finds_the_device_as_the_first_did);
    tcase_add_test(tcase, what_a_kernel_keeps_on_the_device_is_left_alone);
    tcase_add_test(tcase, memory_that_the_judge_gives_back_is_clean);
    tcase_add_test(tcase, a_candidate_finds_nothing_that_others_left);
    tcase_add_test(tcase, the_search_sees_what_is_there);
    tcase_add_test(tcase, a_candidate_sees_one_gpu);
    return tcase;
}
