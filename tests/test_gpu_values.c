/* Mixtures of two contents on a GPU: made in main memory, judged there. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/device/device.h"
#include "verify/session/mixture.h"
#include "verify/session/session.h"

/* A plain softmax that forgets the last column where its maximum is sought. */
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

/* The first row of `peak` has its great value last. */
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

TCase *gpu_values_case(void)
{
    TCase *tests = tcase_create("which values");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_mixture_fails_on_a_gpu_by_the_element_that_is_kept);
    return tests;
}
