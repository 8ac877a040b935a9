/* The error model trusts published figures for matrix units (fraction bits of aligned products, integers
 * summed exactly). Here an honest candidate measures the unit of the GPU in hand. A row of x has 1, a small
 * product and -1, and leaves the small product if and only if it survived the alignment. */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/error.h"
#include "verify/build/build.h"
#include "verify/device/device.h"
#include "suites.h"
#include "skip.h"

#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>

enum { M = 128, N = 256, K = 256 };

typedef int gemm(const void *x, const void *weight, const float *scale, void *y, int64_t m, int64_t n,
                 int64_t k, void *stream);

struct probe {
    gemm *run;
    uint8_t x[M * K], weight[N * K];
    uint8_t *dx, *dweight;
    float *dscale;
    uint16_t *dy;
};

/* e4m3 bits of 2^e, e from -9 (the least subnormal) to 8. */
static uint8_t power(int e)
{
    return (uint8_t)(e >= -6 ? (e + 7) << 3 : 1 << (e + 9));
}

static void open_probe(struct probe *p, const struct device *device)
{
    struct build build;
    char text[4096];
    float scale[N];
    const struct build_options options = {.path = "problems/gemm_fp8/honest/wgmma.cu",
                                          .backend = BACKEND_CUDA,
                                          .arch = device->arch,
                                          .timeout = 120};
    ck_assert_msg(build_candidate(&build, &options, text, sizeof text) == BUILD_OK, "%s", text);
    void *library = dlopen(build.object, RTLD_NOW | RTLD_LOCAL);
    ck_assert_ptr_nonnull(library);
    *(void **)&p->run = dlsym(library, "gemm_fp8");
    build_clear(&build);
    for (int i = 0; i < N; i++)
        scale[i] = 1;
    ck_assert_int_eq(cudaMalloc((void **)&p->dx, sizeof p->x), 0);
    ck_assert_int_eq(cudaMalloc((void **)&p->dweight, sizeof p->weight), 0);
    ck_assert_int_eq(cudaMalloc((void **)&p->dscale, sizeof scale), 0);
    ck_assert_int_eq(cudaMalloc((void **)&p->dy, M * N * sizeof *p->dy), 0);
    ck_assert_int_eq(cudaMemcpy(p->dscale, scale, sizeof scale, cudaMemcpyHostToDevice), 0);
}

/* y[0,0] for products 1 at `one`, +-2^-j at `small`, -1 at `minus` along k, zero elsewhere. */
static double ask(struct probe *p, int j, int one, int small, int minus, bool negative)
{
    uint16_t bits;
    const int a = j / 2, b = j - a;
    memset(p->x, 0, sizeof p->x);
    memset(p->weight, 0, sizeof p->weight);
    p->x[one] = p->weight[one] = power(0);
    p->x[small] = (uint8_t)(power(-a) | (negative ? 0x80 : 0));
    p->weight[small] = power(-b);
    p->x[minus] = power(0) | 0x80;
    p->weight[minus] = power(0);
    ck_assert_int_eq(cudaMemcpy(p->dx, p->x, sizeof p->x, cudaMemcpyHostToDevice), 0);
    ck_assert_int_eq(cudaMemcpy(p->dweight, p->weight, sizeof p->weight, cudaMemcpyHostToDevice), 0);
    ck_assert_int_eq(p->run(p->dx, p->dweight, p->dscale, p->dy, M, N, K, NULL), 0);
    ck_assert_int_eq(cudaMemcpy(&bits, p->dy, sizeof bits, cudaMemcpyDeviceToHost), 0);
    const union {
        uint32_t bits;
        float value;
    } both = {(uint32_t)bits << 16};
    return both.value;
}

static int kept_bits(struct probe *p, int one, int small, int minus)
{
    int kept = 0;
    for (int j = 1; j <= 18; j++)
        if (ask(p, j, one, small, minus, false) == ldexp(1, -j))
            kept = j;
    return kept;
}

START_TEST(the_fp8_matrix_unit_keeps_as_many_bits_as_the_error_model_says)
{
    static struct probe probe;
    struct device device;
    struct arithmetics arithmetics;
    char error[512];
    ck_assert_msg(device_open(&device, "cuda", error, sizeof error) == 0, "%s", error);
    if (device.capability != 90)
        SKIP_TEST("wgmma exists on compute capability 9.0 only");
    error_arithmetics(problem_find("gemm_fp8"), device.capability, &arithmetics);
    open_probe(&probe, &device);
    const int within = kept_bits(&probe, 0, 5, 9);    /* one group of 32 products */
    const int across = kept_bits(&probe, 0, 40, 100); /* three groups: the bits that the accumulator keeps */
    printf("probe: fp8 wgmma keeps 2^-%d beside 1 within a group, 2^-%d in the accumulator\n", within,
           across);
    const struct arithmetic *fp8 = &arithmetics.item[arithmetics.admitted];
    ck_assert_str_eq(fp8->name, "fp8 MMA");
    ck_assert_msg(ldexp(1, -within) * (fp8->k + 1) + ldexp(1, -across) <= fp8->d,
                  "the unit errs more than d = %g", fp8->d);
    /* toward zero: a small negative product vanishes like a positive one, it does not cost a whole unit */
    ck_assert(ask(&probe, 17, 0, 5, 9, true) == 0);
    ck_assert(ask(&probe, 17, 0, 5, 9, false) == 0);
    ck_assert(ask(&probe, 17, 0, 40, 100, true) == 0);
    ck_assert_msg(ldexp(1, within) >= fp8->exact_below, "integers up to %g are not exact", fp8->exact_below);
}
END_TEST

void gpu_probe_tests(TCase *tcase)
{
    tcase_add_test(tcase, the_fp8_matrix_unit_keeps_as_many_bits_as_the_error_model_says);
}

#else

void gpu_probe_tests(TCase *tcase)
{
    (void)tcase;
}

#endif
