/* --forbid on a real device: a linked library, one that is loaded within a call, a template that became a
 * kernel, launches and their callers. The driver works under the loader's auditor. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/build/build.h"
#include "verify/device/device.h"
#include "verify/sandbox/forbid.h"
#include "verify/worker/child.h"
#include "suites.h"

enum { COUNT = 4096, TIMEOUT = 100 };

#define HEAD                                                                                                 \
    "#include <cuda_runtime.h>\n#include <cstdint>\n#include <cstdio>\n#include <dlfcn.h>\n"                 \
    "__global__ void doubles(const float *x, float *y, int64_t n) { int64_t i = blockIdx.x * 256ll + "       \
    "threadIdx.x;\n    if (i < n) y[i] = 2 * x[i]; }\n"                                                      \
    "#define CALL doubles<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n)\n"                       \
    "#define KERNEL extern \"C\" int twice(const float *x, float *y, int64_t n, cudaStream_t stream)\n"

static const struct {
    const char *source, *forbidden;
    int uses;
    const char *evidence;
    int kernels; /* names of those launched, at least */
} cases[] = {
    {HEAD "KERNEL { CALL; return 0; }\n", "cublas,cutlass,thrust,cub,lib:cuda", 0, "", 1},
    {"// link: cublas\n#include <cublas_v2.h>\n" HEAD
     "KERNEL { cublasHandle_t h; if (cublasCreate(&h)) return 3; cublasDestroy(h); CALL; return 0; }\n",
     "cublas", 1, "cublas: its object ", 1},
    {"// link: cublas\n#include <cublas_v2.h>\n" HEAD
     "KERNEL { cublasHandle_t h; if (cublasCreate(&h)) return 3; cublasDestroy(h); CALL; return 0; }\n",
     "lib:cublasLt", 1, "lib:cublasLt: it loaded /", 1},
    {HEAD
     "KERNEL { void *h = dlopen(\"libnvrtc.so\", RTLD_NOW); if (!h) h = dlopen(\"libm.so.6\", RTLD_NOW);\n"
     "    if (h) dlclose(h); CALL; return 0; }\n",
     "cutlass", 0, "", 1},
    {HEAD "namespace cutlass { template <class T> __global__ void Kernel(const T *x, T *y, int64_t n)\n"
          "{ int64_t i = blockIdx.x * 256ll + threadIdx.x; if (i < n) y[i] = 2 * x[i]; } }\n"
          "KERNEL { cutlass::Kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n); return 0; }\n",
     "cutlass", 1, "cutlass: its object holds ", 1},
    /* by the name of its launch, which no object contains: it is put together by the compiler */
    {HEAD
     "#define LOAD(handle, name) *(void **)&name = dlsym(handle, #name)\n"
     "typedef int (*entry)(...);\n"
     "KERNEL { static void *f; static char ptx[1 << 20]; void *p, *h = dlopen(\"libnvrtc.so\", "
     "RTLD_NOW);\n"
     "    void *d = dlopen(\"libcuda.so.1\", RTLD_NOW); char s[999]; size_t size; void *m;\n"
     "    entry nvrtcCreateProgram, nvrtcCompileProgram, nvrtcGetPTXSize, nvrtcGetPTX;\n"
     "    entry cuModuleLoadData, cuModuleGetFunction, cuLaunchKernel;\n"
     "    if (!h || !d) return 5;\n"
     "    LOAD(h, nvrtcCreateProgram); LOAD(h, nvrtcCompileProgram); LOAD(h, nvrtcGetPTXSize); LOAD(h, "
     "nvrtcGetPTX);\n"
     "    LOAD(d, cuModuleLoadData); LOAD(d, cuModuleGetFunction); LOAD(d, cuLaunchKernel);\n"
     "    snprintf(s, sizeof s, \"extern \\\"C\\\" __global__ void cu%s_kernel(const float *x, float *y, "
     "long n)\"\n"
     "        \"{ long i = blockIdx.x * 256l + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }\", \"tlass\");\n"
     "    if (!f && (nvrtcCreateProgram(&p, s, \"s\", 0, (void *)0, (void *)0) || nvrtcCompileProgram(p, 0, "
     "(void *)0)\n"
     "        || nvrtcGetPTXSize(p, &size) || size > sizeof ptx || nvrtcGetPTX(p, ptx)\n"
     "        || cuModuleLoadData(&m, ptx) || cuModuleGetFunction(&f, m, \"cutlass_kernel\"))) return 4;\n"
     "    void *a[] = {&x, &y, &n}; return cuLaunchKernel(f, (unsigned)((n + 255) / 256), 1, 1, 256, 1, 1, "
     "0, stream, a, "
     "(void *)0); }\n",
     "kernel:cutlass_kernel", 1, "kernel:cutlass_kernel: it launched cutlass_kernel, from /", 1},
    /* by a library, whose own names only kernel: asks for */
    {"// link: cublas\n#include <cublas_v2.h>\n" HEAD
     "KERNEL { static cublasHandle_t h; float two = 2; if (!h && cublasCreate(&h)) return 3; "
     "cublasSetStream(h, stream);\n"
     "    if (cublasScopy(h, (int)n, x, 1, y, 1) || cublasSscal(h, (int)n, &two, y, 1)) return 4; return 0; "
     "}\n",
     "kernel:scal_kernel", 1, "libcublas", 1},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct build built;
static struct child *child;
static struct region x, y;
static char text[1024];

static void build(const struct device *device, const char *source)
{
    char path[] = "/tmp/unseen-test-XXXXXX.cu", error[4096];
    const int fd = mkstemps(path, 3);
    ck_assert_int_ge(fd, 0);
    FILE *file = fdopen(fd, "w");
    fputs(source, file);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device->arch, .timeout = 120};
    ck_assert_msg(build_candidate(&built, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
}

static void start(const struct device *device)
{
    const struct child_options options = {.backend = BACKEND_CUDA,
                                          .device = device->ordinal,
                                          .object = built.object,
                                          .symbol = "twice",
                                          .load_timeout = TIMEOUT,
                                          .threads = 2};
    ck_assert_int_eq(region_create(&x, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
    ck_assert_int_eq(region_create(&y, BACKEND_CUDA, COUNT * 4, REGION_ALIGN, text, sizeof text), 0);
    ck_assert_msg(child_start(&child, &options, text, sizeof text) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 0, 0, &x, text, sizeof text) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 0, 1, &y, text, sizeof text) == CHILD_OK, "%s", text);
}

START_TEST(what_a_cuda_candidate_uses_is_seen_and_nothing_else)
{
    const struct call call = {.tensors = 2, .arguments = 1, .argument = {{.value.whole = COUNT}}};
    struct device device = {0};
    struct child_answer answer = {.returned = -1};
    ck_assert_msg(device_open(&device, "cuda", text, sizeof text) == 0, "%s", text);
    build(&device, cases[_i].source);
    ck_assert_int_eq(forbid_add(cases[_i].forbidden, text, sizeof text), 0);
    ck_assert_int_eq(forbid_object(built.object, text, sizeof text), 0);
    start(&device);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(child_call(child, &call, TIMEOUT, &answer, text, sizeof text) == CHILD_OK, "%s", text);
        ck_assert_int_eq(answer.returned, 0);
    }
    child_stop(child);
    const struct forbid_uses uses = forbid_uses();
    printf("forbid: %s: %s\n", cases[_i].forbidden, *uses.text ? uses.text : "no use");
    printf("        %d kernels%s%s\n", uses.kernels, *uses.unasked ? ", not asked: " : "", uses.unasked);
    ck_assert_int_eq(uses.count, cases[_i].uses);
    ck_assert(*uses.unasked || uses.kernels >= cases[_i].kernels);
    ck_assert_ptr_nonnull(strstr(uses.text, cases[_i].evidence));
    ck_assert(!uses.blind);
    region_destroy(&x);
    region_destroy(&y);
    build_clear(&built);
}
END_TEST

TCase *gpu_forbid_case(void)
{
    TCase *tcase = tcase_create("forbid");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_a_cuda_candidate_uses_is_seen_and_nothing_else, 0, CASES);
    return tcase;
}
