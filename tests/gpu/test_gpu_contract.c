/* Arguments of a candidate beyond dense rows and whole numbers, on a GPU (test_session_arguments.c: on the
 * host). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/scaled.h"
#include "gen/contract/space.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/cli/header.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"
#include "verify/session/session.h"

static const char kernel[] =
    "#ifndef LDX\n#define LDX ldx\n#endif\n#ifndef AFTER\n#define AFTER\n#endif\n#ifndef FIRST\n#define "
    "FIRST\n#endif\n"
    "__device__ void put(__half *y, float v) { *y = __float2half_rn(v); }\n"
    "__global__ void scale_rows(const float *x, const bool *mask, const __half *weight, const __nv_fp8_e5m2 "
    "*bias,\n"
    "    __half *y, int64_t rows, int64_t cols, int64_t ldx, int64_t ldy, int32_t offset, bool negate, float "
    "scale,\n"
    "    double shift)\n{\n"
    "    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < rows * cols;\n"
    "         i += (int64_t)gridDim.x * blockDim.x) {\n"
    "        const int64_t r = i / cols, c = i % cols;\n"
    "        const float at = negate ? -x[r * LDX + c] : x[r * LDX + c];\n"
    "        put(&y[r * ldy + c], mask[c] ? at * scale * __half2float(weight[c]) + (float)shift + "
    "(float)offset +\n"
    "            (float)bias[c] : 0.0f);\n    }\n"
    "    if (blockIdx.x == 0 && threadIdx.x == 0) { AFTER; }\n}\n"
    "int scaled_f16(const float *x, const bool *mask, const __half *weight, const __nv_fp8_e5m2 *bias, "
    "__half *y,\n"
    "    int64_t rows, int64_t cols, int64_t ldx, int64_t ldy, int32_t offset, bool negate, float scale,\n"
    "    double shift, cudaStream_t stream)\n{\n    static int calls;\n    calls++;\n    FIRST;\n"
    "    scale_rows<<<64, 128, 0, stream>>>(x, mask, weight, bias, y, rows, cols, ldx, ldy, offset, negate, "
    "scale,\n"
    "        shift);\n    return 0;\n}\n";

#define EMPTY "rows=0 cols=5 gap_x=2 gap_y=4 negate=0 seed=1"
#define PITCHED "rows=3 cols=5 gap_x=2 gap_y=4 negate=1 seed=1"

static const struct {
    const char *macros, *line;
    enum outcome outcome;
    enum cause cause;
} cases[] = {
    {"", PITCHED, OUTCOME_PASS, CAUSE_NONE},
    {"", "rows=41 cols=3000 gap_x=1 gap_y=7 negate=0 input=steep seed=6", OUTCOME_PASS, CAUSE_NONE},
    {"#define FIRST if (calls < 3 && ((uintptr_t)x % 8 != 4 || (uintptr_t)mask % 2 != 1)) return 2", PITCHED,
     OUTCOME_PASS, CAUSE_NONE},
    {"", EMPTY, OUTCOME_PASS, CAUSE_NONE},
    {"#define LDX cols", PITCHED, OUTCOME_WRONG, CAUSE_VALUE},
    {"#define AFTER put(&y[ldy + cols + 1], 0)", PITCHED, OUTCOME_OVERRUN, CAUSE_GAP},
    {"#define AFTER ((float *)x)[ldx - 1] = 0", PITCHED, OUTCOME_OVERRUN, CAUSE_GAP},
    {"#define AFTER ((float *)x)[ldx] = 0", PITCHED, OUTCOME_MODIFIED, CAUSE_INPUT},
    {"#define AFTER put(&y[0], 0)", EMPTY, OUTCOME_OVERRUN, CAUSE_SLACK},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(a_wider_call_has_its_outcome_on_a_gpu)
{
    struct device device;
    struct build build;
    struct config config;
    struct space_error error = {""};
    struct config_result result = {0};
    char path[] = "/tmp/unseen-gpu-XXXXXX.cu", text[4096] = "";
    const int descriptor = mkstemps(path, 3);
    FILE *file = fdopen(descriptor, "w");
    ck_assert(file && device_open(&device, "cuda", text, sizeof text) == 0);
    ck_assert(reference_add(&reference_scaled_f16));
    header_write(file, &problem_scaled_f16);
    fprintf(file, "%s\n%s", cases[_i].macros, kernel);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device.arch, .timeout = 120};
    ck_assert_msg(build_candidate(&build, &options, text, sizeof text) == BUILD_OK, "%s", text);
    ck_assert_msg(config_parse(&config, &problem_scaled_f16, cases[_i].line, "test", &error) == 0, "%s",
                  error.text);
    struct session *session = session_open(&(struct session_options){.problem = &problem_scaled_f16,
                                                                     .device = &device,
                                                                     .object = build.object,
                                                                     .timeout = 3,
                                                                     .threads = 2,
                                                                     .workers = 1});
    ck_assert_msg(session_check(session, &config, &result) == SESSION_OK, "%s", session_error(session));
    ck_assert_msg(result.outcome == cases[_i].outcome, "%s: %s", outcome_name(result.outcome), result.detail);
    ck_assert_int_eq(result.reason.cause, cases[_i].cause);
    session_close(session);
    build_clear(&build);
    unlink(path);
}
END_TEST

/* For memory at any address. */
START_TEST(differences_and_gaps_are_found_at_any_alignment)
{
    enum { BYTES = 3000, ROW = 10, PITCH = 16 };
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    unsigned char here[BYTES + 16];
    char *a, *b;
    struct device device;
    char text[512];
    ck_assert_int_eq(device_open(&device, "cuda", text, sizeof text), 0);
    ck_assert_int_eq(gpu->take((void **)&a, sizeof here) | gpu->take((void **)&b, sizeof here), 0);
    for (int shift = 0; shift < 16; shift += 3)
        for (int at = 0; at < BYTES; at += 271) {
            memset(here, 0xa5, sizeof here);
            gpu->from_host(a, here, sizeof here);
            here[at] = 1;
            gpu->from_host(b + shift, here, BYTES);
            struct memory_search search[] = {
                {.memory = a, .bytes = BYTES, .other = b + shift},
                {.memory = b + shift, .bytes = 0},
                {.memory = b + shift, .bytes = BYTES, .word = 0xa5a5a5a5},
                {.memory = b + shift, .bytes = BYTES, .word = 0xa5a5a5a5, .row = ROW, .pitch = PITCH}};
            ck_assert_int_eq(gpu->search(search, 4), 0);
            ck_assert_int_eq(search[0].first, at);
            ck_assert_int_eq(search[1].first, -1);
            ck_assert_int_eq(search[2].first, at);
            ck_assert_int_eq(search[3].first, at % PITCH < ROW ? -1 : at);
        }
    gpu->release(a);
    gpu->release(b);
}
END_TEST

/* On either side, at any address, of any length. */
START_TEST(a_fingerprint_is_the_same_on_host_and_gpu)
{
    enum { MOST = (3 << 20) + 5 };
    static const size_t sizes[] = {0, 1, 7, 8, 9, 255, 4099, 65536, MOST};
    const struct memory *gpu = memory_of(BACKEND_CUDA), *host = memory_of(BACKEND_HOST);
    unsigned char *here = malloc(MOST);
    char *there;
    struct device device;
    char text[512];
    ck_assert_int_eq(device_open(&device, "cuda", text, sizeof text), 0);
    ck_assert(here && gpu->take((void **)&there, MOST + 16) == 0);
    for (int i = 0; i < MOST; i++)
        here[i] = (unsigned char)(i * (int64_t)i >> 5);
    for (int shift = 0; shift < 16; shift += 3)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            uint64_t want = 1, got = 2;
            ck_assert_int_eq(gpu->from_host(there + shift, here, MOST), 0);
            ck_assert_int_eq(host->fingerprint(here, sizes[i], 99 + i, &want), 0);
            ck_assert_int_eq(gpu->fingerprint(there + shift, sizes[i], 99 + i, &got), 0);
            ck_assert_uint_eq(got, want);
        }
    gpu->release(there);
    free(here);
}
END_TEST

TCase *gpu_contract_case(void)
{
    TCase *tests = tcase_create("contract");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, a_wider_call_has_its_outcome_on_a_gpu, 0, CASES);
    tcase_add_test(tests, differences_and_gaps_are_found_at_any_alignment);
    tcase_add_test(tests, a_fingerprint_is_the_same_on_host_and_gpu);
    return tests;
}
