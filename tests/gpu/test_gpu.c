/* Tests that need a GPU: inputs have the same bits there, both enclosures agree, and the guards of GPU memory
 * catch violations. `make check-gpu` runs them, and skips them without a GPU. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "reference/judge.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"
#include "verify/session/session.h"
#include "verify/build/build.h"
#include "verify/device/peaks.h"
#include "tests/contract/scaled.h"
#include "suites.h"

static struct device device;

static void open_device(void)
{
    char error[512] = "";
    if (device.memory_bytes == 0)
        ck_assert_msg(device_open(&device, "cuda", error, sizeof error) == 0, "%s", error);
}

/* A few shapes of each problem, off alignment. Every input class is crossed with all of them, and the choices
 * that a line leaves open take turns. */
static const struct {
    const char *problem, *line;
} shapes[] = {
    {"softmax", "rows=7 cols=1031"},
    {"softmax", "rows=3 cols=70001"},
    {"softmax", "rows=1000 cols=1"},
    {"gemm_fp8", "m=33 n=65 k=287"},
    {"gemm_fp8", "m=130 n=7 k=2049"},
    {"paged_attention", "batch=3 heads=6 kv_heads=2 head_dim=80 page_size=17 max_len=301 "
                        "lengths=ragged table=shared past=invalid"},
    {"paged_attention", "batch=2 heads=4 kv_heads=4 head_dim=64 page_size=1 max_len=130 "
                        "lengths=one table=reversed past=nan"},
    {"paged_attention", "batch=4 heads=8 kv_heads=1 head_dim=256 page_size=32 max_len=97 "
                        "lengths=over table=identity past=finite"},
    {"kda", "batch=2 t=131 heads=3 dk=96 dv=64"},
    {"kda", "batch=1 t=700 heads=1 dk=192 dv=128"},
    {"topk", "rows=5 n=1031 k=129"},
    {"topk", "rows=2 n=70001 k=4096"},
    {"moe_up", "tokens=131 hidden_dim=77 inter_dim=65 experts=9"},
    {"moe_up", "tokens=5 hidden_dim=513 inter_dim=33 experts=200"},
    {"gemm_w4a16", "m=33 n=65 k=286 group=96"},
    {"gemm_bf16", "m=33 n=65 k=287 trans_b=0"},
    {"gemm_bf16", "m=130 n=7 k=1049 trans_b=1"},
    {"gemm_f32", "m=33 n=65 k=287 trans_b=1"},
    {"scaled_f16", "rows=33 cols=65 gap_x=3 gap_y=5 negate=1"},
    {"scaled_f16", "rows=7 cols=1031 gap_x=0 gap_y=1 negate=0"},
    {"scaled_i8", "rows=130 cols=77 gap_x=1 gap_y=3 negate=0"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const struct problem *problem_of(const char *name)
{
    return strcmp(name, "scaled_f16") == 0  ? &problem_scaled_f16
           : strcmp(name, "scaled_i8") == 0 ? &problem_scaled_i8
                                            : problem_find(name);
}

static void turn_choices(struct config *config, const char *line, int turn)
{
    const struct axis *axes = config->problem->axes;
    for (int a = 0; axes[a].name; a++) {
        int count = 0;
        if (axes[a].kind != AXIS_CHOICE || strstr(line, axes[a].name))
            continue;
        while (problem_choice(config->problem, a, count))
            count++;
        config->value[a] = (turn + a) % count;
    }
}

static void each_config(void (*check)(const struct config *config))
{
    struct space_error error;
    for (int i = 0; i < SHAPES; i++) {
        const struct problem *problem = problem_of(shapes[i].problem);
        const int input = problem_input_axis(problem);
        for (int c = 0; problem_choice(problem, input, c); c++) {
            struct config config;
            ck_assert_msg(config_parse(&config, problem, shapes[i].line, "test", &error) == 0, "%s",
                          error.text);
            turn_choices(&config, shapes[i].line, c + i);
            config.value[input] = c;
            config.seed = 1000 + (uint64_t)(100 * i + c);
            check(&config);
        }
    }
}

static size_t tensor_bytes(const struct problem *problem, const struct instance *instance, int t)
{
    return (size_t)dtype_bytes(problem->tensors[t].dtype, instance_tensor_span(&instance->tensor[t]));
}

static void compare_fill(const struct config *config)
{
    const struct problem *problem = config->problem;
    const struct memory *gpu = memory_of(BACKEND_CUDA), *host = memory_of(BACKEND_HOST);
    struct instance instance;
    ck_assert_int_eq(config_instantiate(config, 1, &instance), 0);
    for (int t = 0; problem->tensors[t].role == TENSOR_INPUT; t++) {
        const size_t bytes = tensor_bytes(problem, &instance, t);
        void *here, *there, *back = malloc(bytes);
        char line[256];
        config_format(config, line, sizeof line);
        ck_assert_int_eq(host->take(&here, bytes), 0);
        ck_assert_int_eq(gpu->take(&there, bytes), 0);
        host->poison(here, bytes, dtype_row(DTYPE_F32)->poison); /* gaps between rows stay so */
        gpu->poison(there, bytes, dtype_row(DTYPE_F32)->poison);
        ck_assert_int_eq(host->fill(problem, &instance, t, config->seed, 1, here), 0);
        ck_assert_int_eq(gpu->fill(problem, &instance, t, config->seed, 1, there), 0);
        ck_assert_int_eq(gpu->to_host(back, there, 0, (int64_t)bytes), 0);
        ck_assert_msg(memcmp(here, back, bytes) == 0, "%s %s: %s", problem->name, problem->tensors[t].name,
                      line);
        host->release(here);
        gpu->release(there);
        free(back);
    }
    instance_clear(&instance);
}

START_TEST(inputs_have_the_same_bits_on_the_host_and_on_the_gpu)
{
    open_device();
    each_config(compare_fill);
}
END_TEST

/* --- many pieces in one go --- */

enum {
    GATHER_PAGES = 9001,
    GATHER_BYTES = GATHER_PAGES * DEVICE_PAGES_PAGE + 37,
    GATHER_PIECES = 3000,
    GATHER_THREADS = 12
};

/* Pages anywhere, some of them twice, the short one at the end among them. Every fifth is a part of a page,
 * off alignment. */
static void choose_pieces(const char *there, char *to, unsigned turn, struct reference_piece *piece)
{
    uint64_t random = 1 + turn;
    for (int i = 0; i < GATHER_PIECES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const bool last = i == 7, part = i % 5 == 4;
        const int64_t page = last ? GATHER_PAGES : (int64_t)((random >> 33) % GATHER_PAGES);
        const int64_t skip = part ? (int64_t)(random >> 20 & 1023) : 0;
        piece[i].to = to + (int64_t)i * (DEVICE_PAGES_PAGE + 16);
        piece[i].from = there + page * DEVICE_PAGES_PAGE + skip;
        piece[i].bytes = last ? 37 : part ? 1 + (int64_t)(random >> 50 & 2047) : DEVICE_PAGES_PAGE;
    }
}

/* Returns the number of pieces that differ from to_host's, or have spilled. */
static int compare_pieces(const char *there, const char *all, unsigned turn)
{
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    const size_t bytes = (size_t)GATHER_PIECES * (DEVICE_PAGES_PAGE + 16);
    struct reference_piece *piece = malloc(GATHER_PIECES * sizeof *piece);
    char *to = malloc(bytes);
    int wrong = 0;
    memset(to, 0x55, bytes);
    choose_pieces(there, to, turn, piece);
    if (gpu->gather(piece, GATHER_PIECES) != 0)
        wrong = GATHER_PIECES;
    for (int i = 0; i < GATHER_PIECES && wrong < GATHER_PIECES; i++) {
        const char *got = piece[i].to, *want = all + ((const char *)piece[i].from - there);
        wrong += memcmp(got, want, (size_t)piece[i].bytes) != 0;
        for (int64_t b = piece[i].bytes; b < DEVICE_PAGES_PAGE + 16; b++)
            wrong += got[b] != 0x55;
    }
    free(piece);
    free(to);
    return wrong;
}

START_TEST(pieces_of_gpu_memory_come_together)
{
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    char *all = malloc(GATHER_BYTES);
    void *there;
    int wrong = 0;
    open_device();
    for (int i = 0; i < GATHER_BYTES; i++)
        all[i] = (char)((uint32_t)i * 2654435761u >> 24);
    ck_assert_int_eq(gpu->take(&there, GATHER_BYTES), 0);
    ck_assert_int_eq(gpu->from_host(there, all, GATHER_BYTES), 0);
    memset(all, 0, GATHER_BYTES);
    ck_assert_int_eq(gpu->to_host(all, there, 0, GATHER_BYTES), 0);
    ck_assert_int_eq(gpu->gather(NULL, 0), 0);
#pragma omp parallel for num_threads(GATHER_THREADS) reduction(+ : wrong)
    for (unsigned turn = 0; turn < 4 * GATHER_THREADS; turn++)
        wrong += compare_pieces(there, all, turn);
    ck_assert_int_eq(wrong, 0);
    gpu->release(there);
    free(all);
}
END_TEST

/* A piece that is not on the GPU is an error with a name, and not the end: the next one comes. */
START_TEST(pieces_that_are_nowhere_are_an_error)
{
    const struct memory *gpu = memory_of(BACKEND_CUDA);
    char to[64], here[64];
    void *there;
    open_device();
    const int error = gpu->gather(&(struct reference_piece){to, here, sizeof here}, 1);
    ck_assert_int_ne(error, 0);
    ck_assert_ptr_nonnull(gpu->explain(error));
    ck_assert_int_eq(gpu->take(&there, sizeof to), 0);
    ck_assert_int_eq(gpu->poison(there, sizeof to, 0x01020304u), 0);
    ck_assert_int_eq(gpu->gather(&(struct reference_piece){to, there, sizeof to}, 1), 0);
    ck_assert_int_eq(to[63], 1);
    gpu->release(there);
}
END_TEST

/* One judgement on each side, of an output with the same arbitrary bits on both. */
struct one_side {
    const struct memory *memory;
    void *tensor[PROBLEM_MAX_TENSORS];
    struct judge_report *report;
};

static void judge_side(struct one_side *side, enum backend backend, const struct config *config,
                       const struct instance *instance)
{
    const struct problem *problem = config->problem;
    struct judge_request request = {.problem = problem, .poison = 0xfeedbeef};
    side->memory = memory_of(backend);
    side->report = calloc(1, sizeof *side->report);
    int t = 0;
    for (; problem->tensors[t].role == TENSOR_INPUT; t++) {
        ck_assert_int_eq(side->memory->take(&side->tensor[t], tensor_bytes(problem, instance, t)), 0);
        side->memory->fill(problem, instance, t, config->seed, 0, side->tensor[t]);
        request.context.tensor[t] = side->tensor[t];
    }
    request.output = t;
    for (int o = t; problem->tensors[o].name; o++) {
        ck_assert_int_eq(side->memory->take(&side->tensor[o], tensor_bytes(problem, instance, o)), 0);
        side->memory->poison(side->tensor[o], tensor_bytes(problem, instance, o), 0x3c003c00u);
        request.context.tensor[o] = side->tensor[o];
    }
    request.got = side->tensor[t];
    request.width = instance_tensor_width(&instance->tensor[t]);
    request.pitch = instance->tensor[t].pitch;
    request.context.data = instance->data;
    request.context.e4m3 = reference_e4m3();
    memcpy(request.context.extent, instance->extent, sizeof instance->extent);
    memcpy(request.context.scalar, instance->scalar, sizeof instance->scalar);
    error_arithmetics(problem, 90, &request.arithmetics);
    const int64_t count = instance_tensor_count(&instance->tensor[t]);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        request.sample[s] = (count - 1) * s / (JUDGE_SAMPLES - 1);
    const struct reference *reference = reference_find(problem, problem_first_output(problem));
    ck_assert_int_eq(
        (backend == BACKEND_CUDA ? reference->judge_cuda : reference->judge_host)(&request, side->report), 0);
}

static void close_side(struct one_side *side)
{
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        if (side->tensor[t])
            side->memory->release(side->tensor[t]);
    free(side->report);
}

static void compare_enclosures(const struct config *config)
{
    struct one_side host = {0}, gpu = {0};
    struct instance instance;
    char line[256];
    config_format(config, line, sizeof line);
    ck_assert_int_eq(config_instantiate(config, 0, &instance), 0);
    judge_side(&host, BACKEND_HOST, config, &instance);
    judge_side(&gpu, BACKEND_CUDA, config, &instance);
    ck_assert_msg(host.report->wrong == gpu.report->wrong, "%s: %lld wrong on the host, %lld on the GPU",
                  line, (long long)host.report->wrong, (long long)gpu.report->wrong);
    ck_assert_int_eq(host.report->first_wrong, gpu.report->first_wrong);
    ck_assert_int_eq(host.report->last_wrong, gpu.report->last_wrong);
    ck_assert_int_eq(host.report->published_wrong, gpu.report->published_wrong);
    for (int s = 0; s < JUDGE_SAMPLES; s++) {
        const struct judged *a = &host.report->sample[s], *b = &gpu.report->sample[s];
        ck_assert_msg(a->index == b->index && a->got == b->got &&
                          ((isnan(a->mid) && isnan(b->mid)) || a->mid == b->mid ||
                           fabs(a->mid - b->mid) <= a->rad + b->rad),
                      "%s element %lld: host %.17g +- %.3g, GPU %.17g +- %.3g", line, (long long)a->index,
                      a->mid, a->rad, b->mid, b->rad);
        ck_assert_msg((isnan(a->mid)) || fabs(a->allowed - b->allowed) <= 1e-4 * a->allowed,
                      "%s: allowed %.17g and %.17g", line, a->allowed, b->allowed);
    }
    close_side(&host);
    close_side(&gpu);
    instance_clear(&instance);
}

START_TEST(both_enclosures_agree_on_every_input_class)
{
    open_device();
    ck_assert(reference_add(&reference_scaled_f16) && reference_add(&reference_scaled_i8));
    each_config(compare_enclosures);
}
END_TEST

/* --- candidates that misbehave, and the outcome that each must have --- */

#define KERNEL_HEAD                                                                                          \
    "#include <cuda_runtime.h>\n#include <cstdint>\n#include <cmath>\n"                                      \
    "__global__ void plain(const float *x, float *y, int64_t rows, int64_t cols)\n"                          \
    "{ for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) if (threadIdx.x == 0) {\n"                     \
    "  float m = -INFINITY; double s = 0;\n"                                                                 \
    "  for (int64_t c = 0; c < cols; c++) m = fmaxf(m, x[r * cols + c]);\n"                                  \
    "  for (int64_t c = 0; c < cols; c++) s += expf(x[r * cols + c] - m);\n"                                 \
    "  for (int64_t c = 0; c < cols; c++) y[r * cols + c] = expf(x[r * cols + c] - m) / (float)s; } }\n"
#define ENTRY(before, after)                                                                                 \
    "extern \"C\" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)\n"  \
    "{ " before " plain<<<256, 32, 0, stream>>>(x, y, rows, cols); " after " return 0; }\n"

static const struct misbehaving {
    const char *source;
    enum outcome outcome;
} misbehaving[] = {
    {KERNEL_HEAD ENTRY("", ""), OUTCOME_PASS},
    {KERNEL_HEAD
     "__global__ void peek(const float *x, float *y, int64_t n) { if (x[n + 3] == 1e30f) y[0] = 0; }\n" ENTRY(
         "", "peek<<<1, 1, 0, stream>>>(x, y, rows * cols + 4);"),
     OUTCOME_OVERRUN},
    {KERNEL_HEAD "__global__ void peek(const float *x, float *y) { if (x[-1] == 1e30f) y[0] = 0; }\n" ENTRY(
         "", "peek<<<1, 1, 0, stream>>>(x, y);"),
     OUTCOME_OVERRUN},
    {KERNEL_HEAD "__global__ void poke(float *y, int64_t n) { y[n] = 1; }\n" ENTRY(
         "", "poke<<<1, 1, 0, stream>>>(y, rows * cols);"),
     OUTCOME_OVERRUN},
    {KERNEL_HEAD "__global__ void poke(const float *x) { ((float *)x)[0] += 1; }\n" ENTRY(
         "", "poke<<<1, 1, 0, stream>>>(x);"),
     OUTCOME_MODIFIED},
    {KERNEL_HEAD ENTRY("rows--;", ""), OUTCOME_UNWRITTEN},
    {KERNEL_HEAD "__global__ void trap() { asm(\"trap;\"); }\n" ENTRY("", "trap<<<1, 1, 0, stream>>>();"),
     OUTCOME_CRASH},
    {KERNEL_HEAD
     "__global__ void spin(float *y) { for (;;) if (((volatile float *)y)[0] == 7) break; }\n" ENTRY(
         "", "spin<<<1, 1, 0, stream>>>(y);"),
     OUTCOME_TIMEOUT},
    {KERNEL_HEAD ENTRY("return 5;", ""), OUTCOME_REFUSED},
    {KERNEL_HEAD ENTRY("*(volatile int *)0 = 1;", ""), OUTCOME_CRASH},
    {KERNEL_HEAD ENTRY("", "if (cols == 1031) asm volatile(\"ud2\");"), OUTCOME_CRASH},
};
enum { MISBEHAVING = sizeof misbehaving / sizeof *misbehaving };

static void write_source(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(text, file) >= 0 && fclose(file) == 0);
}

START_TEST(a_misbehaving_kernel_has_its_outcome)
{
    /* judged in main memory, and on the GPU */
    static const char *const lines[] = {"rows=5 cols=1031 seed=3", "rows=301 cols=1031 seed=3"};
    const struct misbehaving *const kernel = &misbehaving[_i / 2];
    const char *path = "/tmp/unseen-test-gpu.cu";
    struct build build;
    struct config config;
    struct space_error error;
    char text[4096];
    open_device();
    write_source(path, kernel->source);
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device.arch, .timeout = 120};
    ck_assert_msg(build_candidate(&build, &options, text, sizeof text) == BUILD_OK, "%s", text);
    ck_assert_int_eq(config_parse(&config, problem_find("softmax"), lines[_i % 2], "test", &error), 0);
    const struct session_options session_options = {.problem = problem_find("softmax"),
                                                    .device = &device,
                                                    .object = build.object,
                                                    .timeout = kernel->outcome == OUTCOME_TIMEOUT ? 3 : 20,
                                                    .threads = 2,
                                                    .workers = 1};
    struct session *session = session_open(&session_options);
    struct config_result result = {0}, again = {0};
    ck_assert_msg(session_check(session, &config, &result) == SESSION_OK, "%s", session_error(session));
    ck_assert_msg(result.outcome == kernel->outcome, "%d: %s (%s), expected %s", _i,
                  outcome_name(result.outcome), result.detail, outcome_name(kernel->outcome));
    /* the judge survives it, and so does the next configuration */
    ck_assert_msg(session_check(session, &config, &again) == SESSION_OK, "%s", session_error(session));
    ck_assert_int_eq(again.outcome, kernel->outcome);
    session_close(session);
    build_clear(&build);
    remove(path);
}
END_TEST

START_TEST(ceilings_of_the_device_repeat)
{
    static const int all[] = {FIGURE_COPY, FIGURE_L2, FIGURE_RATE + RATE_BF16, FIGURE_LAUNCH, FIGURE_GRAPH};
    struct figures first, second;
    char error[512];
    open_device();
    peaks_measure(&device, PEAKS_ALL, &first, error, sizeof error);
    ck_assert_msg(peaks_measure(&device, PEAKS_ALL, &second, error, sizeof error) == 0, "%s", error);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(first.value[all[i]] > 0 && fabs(first.value[all[i]] / second.value[all[i]] - 1) < 0.05,
                      "%s: %g and %g %s", figure_title((enum figure)all[i]), first.value[all[i]],
                      second.value[all[i]], figure_unit((enum figure)all[i]));
}
END_TEST

Suite *gpu_suite(void)
{
    Suite *suite = suite_create("gpu");
    TCase *tcase = tcase_create("gpu");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, inputs_have_the_same_bits_on_the_host_and_on_the_gpu);
    tcase_add_test(tcase, pieces_of_gpu_memory_come_together);
    tcase_add_test(tcase, ceilings_of_the_device_repeat);
    tcase_add_test(tcase, pieces_that_are_nowhere_are_an_error);
    tcase_add_test(tcase, both_enclosures_agree_on_every_input_class);
    tcase_add_loop_test(tcase, a_misbehaving_kernel_has_its_outcome, 0, 2 * MISBEHAVING);
    gpu_probe_tests(tcase);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, gpu_clock_case());
    suite_add_tcase(suite, gpu_state_case());
    suite_add_tcase(suite, gpu_python_case());
    suite_add_tcase(suite, gpu_forbid_case());
    suite_add_tcase(suite, own_gpu_case());
    suite_add_tcase(suite, gpu_contract_case());
    suite_add_tcase(suite, gpu_values_case());
    suite_add_tcase(suite, gpu_forms_case());
    suite_add_tcase(suite, gpu_room_case());
    return suite;
}
