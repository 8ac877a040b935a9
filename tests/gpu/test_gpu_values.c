/* Every kind of fill on a GPU, bit by bit, and blends of two draws: made in main memory, judged there. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "suites.h"
#include "stored.h"
#include "verify/build/build.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"
#include "verify/session/mixture.h"
#include "verify/session/session.h"

/* --- kinds --- */

enum { ELEMENTS = 40 * 333 };

/* Imported tasks use some kinds that no built-in problem uses: each by itself, as fp32, as bf16, and as fp4,
 * whose elements share bytes. */
static void compare_kind(struct fill fill, enum dtype dtype)
{
    const struct tensor tensors[] = {{"x", dtype, TENSOR_INPUT, "[n]"}, {0}};
    const struct problem problem = {.name = "kinds", .tensors = tensors};
    const struct instance instance = {.tensor = {{.rank = 1, .dim = {ELEMENTS}, .fill = fill}}};
    const struct memory *gpu = memory_of(BACKEND_CUDA), *host = memory_of(BACKEND_HOST);
    const size_t bytes = (size_t)dtype_bytes(dtype, ELEMENTS);
    void *here, *there, *back = malloc(bytes);
    ck_assert_ptr_nonnull(back);
    ck_assert_int_eq(host->take(&here, bytes), 0);
    ck_assert_int_eq(gpu->take(&there, bytes), 0);
    ck_assert_int_eq(host->fill(&problem, &instance, 0, 42, 1, here), 0);
    ck_assert_int_eq(gpu->fill(&problem, &instance, 0, 42, 1, there), 0);
    ck_assert_int_eq(gpu->to_host(back, there, 0, (int64_t)bytes), 0);
    ck_assert_msg(memcmp(here, back, bytes) == 0, "kind %d, density %g, step %lld, dtype %d", (int)fill.kind,
                  (double)fill.density, (long long)fill.step, (int)dtype);
    host->release(here);
    gpu->release(there);
    free(back);
}

START_TEST(every_kind_of_fill_has_the_same_bits_on_the_host_and_on_the_gpu)
{
    static const float densities[] = {0, 0.5f, 1};
    static const int64_t steps[] = {1, 7, 333};
    struct device device;
    char text[256];
    ck_assert_msg(device_open(&device, "cuda", text, sizeof text) == 0, "%s", text);
    for (int kind = FILL_CONSTANT; kind <= FILL_NEIGHBOURS; kind++)
        for (size_t i = 0; i < 9 && kind != FILL_GATHER; i++) {
            const struct fill fill = {.kind = (enum fill_kind)kind,
                                      .a = -3,
                                      .b = 6,
                                      .density = densities[i / 3],
                                      .inner = 333,
                                      .step = steps[i % 3],
                                      .block = 4L * 333,
                                      .early = 333};
            compare_kind(fill, DTYPE_F32);
            compare_kind(fill, DTYPE_BF16);
            compare_kind(fill, DTYPE_E2M1);
        }
}
END_TEST

/* --- mixtures --- */

/* A plain softmax whose maximum leaves out the last column. */
static const char kernel[] =
    "#include <cstdint>\n#include <cmath>\n"
    "__global__ void rows_of(const float *x, float *y, int64_t rows, int64_t cols)\n"
    "{ for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) if (threadIdx.x == 0) {\n"
    "  float m = -INFINITY; double s = 0;\n"
    "  for (int64_t c = 0; c < cols - 1; c++) m = fmaxf(m, x[r * cols + c]);\n"
    "  for (int64_t c = 0; c < cols; c++) s += expf(x[r * cols + c] - m);\n"
    "  for (int64_t c = 0; c < cols; c++) y[r * cols + c] = expf(x[r * cols + c] - m) / (float)s; } }\n"
    "extern \"C\" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)\n"
    "{ rows_of<<<256, 32, 0, stream>>>(x, y, rows, cols); return 0; }\n";

static void build_kernel(const struct device *device, struct build *build)
{
    char path[] = "/tmp/unseen-gpu-XXXXXX.cu", text[4096] = "";
    FILE *file = fdopen(mkstemps(path, 3), "w");
    ck_assert_ptr_nonnull(file);
    fputs(kernel, file);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device->arch, .timeout = 120};
    ck_assert_msg(build_candidate(build, &options, text, sizeof text) == BUILD_OK, "%s", text);
    unlink(path);
}

static struct config config_of(const char *line)
{
    struct config config;
    struct space_error error = {""};
    ck_assert_msg(config_parse(&config, problem_find("softmax"), line, "test", &error) == 0, "%s",
                  error.text);
    return config;
}

static enum outcome outcome_of(struct session *session, const struct mixture *mixture, const struct box *keep)
{
    struct config_result result = {.config = mixture->own_config};
    const struct mix mix = {.of = mixture, .keep = keep, .keeps = keep != NULL};
    ck_assert_msg(session_check_mix(session, &mix, &result) == SESSION_OK, "%s", session_error(session));
    return result.outcome;
}

/* The first row of `peak` has its great value in the last column. */
START_TEST(a_mixture_fails_on_a_gpu_by_the_element_that_is_kept)
{
    struct device device;
    struct build build;
    struct mixture mixture;
    char text[512] = "";
    const struct config own = config_of("rows=3 cols=37 input=peak seed=1"),
                        other = config_of("rows=3 cols=37 input=normal seed=2");
    const struct box last = {.low = {0, 36}, .high = {1, 37}}, others = {.low = {0, 0}, .high = {1, 36}};
    ck_assert_msg(device_open(&device, "cuda", text, sizeof text) == 0, "%s", text);
    build_kernel(&device, &build);
    ck_assert_int_eq(mixture_open(&mixture, &own, 0, &other, 0), 0);
    struct session *session = session_open(&(struct session_options){.problem = problem_find("softmax"),
                                                                     .device = &device,
                                                                     .object = build.object,
                                                                     .timeout = 3,
                                                                     .threads = 2,
                                                                     .workers = 1});
    ck_assert_int_eq(outcome_of(session, &mixture, NULL), OUTCOME_PASS);
    ck_assert_int_eq(outcome_of(session, &mixture, &last), OUTCOME_WRONG);
    ck_assert_int_eq(outcome_of(session, &mixture, &others), OUTCOME_PASS);
    session_close(session);
    mixture_close(&mixture);
    build_clear(&build);
}
END_TEST

START_TEST(enclosures_read_on_a_gpu_give_the_report_of_computed_ones)
{
    struct device device;
    char error[400];
    ck_assert_msg(device_open(&device, "cuda", error, sizeof error) == 0, "%s", error);
    check_stored(BACKEND_CUDA);
}
END_TEST

TCase *gpu_values_case(void)
{
    TCase *tests = tcase_create("which values");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_kind_of_fill_has_the_same_bits_on_the_host_and_on_the_gpu);
    tcase_add_test(tests, enclosures_read_on_a_gpu_give_the_report_of_computed_ones);
    tcase_add_test(tests, a_mixture_fails_on_a_gpu_by_the_element_that_is_kept);
    return tests;
}
