/* Arguments of a candidate beyond dense rows and whole numbers (tests/contract/scaled.c), from the
 * declaration to the verdict of a session. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/scaled.h"
#include "gen/contract/space.h"
#include "share.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/cli/header.h"
#include "verify/session/session_timing.h"

/* The printed declaration, and a right kernel that macros make faulty; `calls` counts in one process. */
static const char kernel[] =
    "static int calls;\n"
    "#ifndef LDX\n#define LDX ldx\n#endif\n#ifndef LAST\n#define LAST cols\n#endif\n"
    "#ifndef SCALE\n#define SCALE scale\n#endif\n#ifndef AFTER\n#define AFTER\n#endif\n"
    "int NAME(const float *x, const bool *mask, const unseen_f16 *weight, const unseen_e5m2 *bias, OUT *y,\n"
    "    int64_t rows, int64_t cols, int64_t ldx, int64_t ldy, int32_t offset, bool negate, float scale,\n"
    "    double shift, void *stream)\n{\n"
    "    (void)stream;\n    calls++;\n"
    "    for (int64_t r = 0; r < rows; r++)\n        for (int64_t c = 0; c < LAST; c++) {\n"
    "            const float at = negate ? -x[r * LDX + c] : x[r * LDX + c];\n"
    "            const float v = at * SCALE * f16_to_float(weight[c]) + (float)shift + (float)offset\n"
    "                + e5m2_to_float(bias[c]);\n"
    "            y[r * ldy + c] = mask[c] ? ROUND(v) : ELSE;\n        }\n"
    "    AFTER;\n    return 0;\n}\n";

static char folder[32];
static struct build build;
static struct device device;
static struct session *session;

static void write_kernel(const char *path, const struct problem *problem, const char *macros)
{
    char *root = realpath("problems/candidate.h", NULL);
    FILE *file = fopen(path, "w");
    ck_assert(file && root);
    header_write(file, problem);
    fprintf(file, "#include \"%s\"\n%s\n", root, macros);
    fprintf(file, "#define NAME %s\n#define ELSE %s\n", problem->name,
            problem == &problem_scaled_inout ? "y[r * ldy + c]" : "0");
    if (problem != &problem_scaled_i8)
        fputs("#define OUT unseen_f16\n#define ROUND float_to_f16\n", file);
    else
        fputs("#define OUT int8_t\n"
              "#define ROUND(v) (int8_t)(nearbyintf(v) < -128 ? -128 : nearbyintf(v) > 127 ? 127 : "
              "nearbyintf(v))\n",
              file);
    fputs(kernel, file);
    ck_assert_int_eq(fclose(file), 0);
    free(root);
}

static void open_kernel(const struct problem *problem, const char *macros)
{
    char path[64], error[4096] = "";
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    write_kernel(path, problem, macros);
    const struct build_options options = {.path = path, .timeout = 60};
    ck_assert_msg(build_candidate(&build, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    ck_assert(reference_add(&reference_scaled_f16) && reference_add(&reference_scaled_i8) &&
              reference_add(&reference_scaled_inout));
    session = session_open(&(struct session_options){.problem = problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 5,
                                                     .threads = 2,
                                                     .workers = 1});
    ck_assert_ptr_nonnull(session);
}

static void close_kernel(void)
{
    session_close(session);
    build_clear(&build);
    rmdir(folder);
}

static struct config parse_line(const struct problem *problem, const char *line)
{
    struct config config;
    struct space_error error = {""};
    ck_assert_msg(config_parse(&config, problem, line, "test", &error) == 0, "%s", error.text);
    return config;
}

static struct config_result check(const struct problem *problem, const char *line)
{
    const struct config config = parse_line(problem, line);
    struct config_result result = {0};
    ck_assert_msg(session_check(session, &config, &result) == SESSION_OK, "%s: %s", line,
                  session_error(session));
    return result;
}

enum { PROBLEMS = 3 };

static const struct problem *problem_number(int i)
{
    return i == 0 ? &problem_scaled_f16 : i == 1 ? &problem_scaled_i8 : &problem_scaled_inout;
}

static const char *const lines[] = {
    "rows=3 cols=5 gap_x=2 gap_y=4 negate=0 seed=1",
    "rows=3 cols=5 gap_x=2 gap_y=4 negate=1 input=steep seed=2",
    "rows=7 cols=33 gap_x=0 gap_y=0 negate=0 seed=3",
    "rows=1 cols=1 gap_x=100 gap_y=7 negate=1 seed=4",
    "rows=100 cols=64 gap_x=8 gap_y=1 negate=0 input=steep seed=5",
    "rows=41 cols=3000 gap_x=1 gap_y=7 negate=1 seed=6",
};
enum { LINES = sizeof lines / sizeof *lines };

START_TEST(a_kernel_that_uses_every_argument_and_every_pitch_passes)
{
    const struct problem *problem = problem_number(_i);
    open_kernel(problem, "");
    for (int i = 0; i < LINES; i++) {
        const struct config_result result = check(problem, lines[i]);
        ck_assert_msg(result.outcome == OUTCOME_PASS, "%s: %s: %s", lines[i], outcome_name(result.outcome),
                      result.detail);
        ck_assert_int_gt(result.witnessed, 0);
    }
    struct config_result timed = {0};
    const struct config config = parse_line(problem, lines[0]);
    ck_assert_int_eq(session_time(session, &config, 0.01, &timed), SESSION_OK);
    ck_assert_msg(timed.timing.present, "%s", timed.detail);
    close_kernel();
}
END_TEST

static const struct {
    const char *macros;
    enum outcome outcome;
    enum cause cause;
    int tensor;
    const char *detail; /* a part of its message */
} faults[] = {
    {"#define LDX cols", OUTCOME_WRONG, CAUSE_VALUE, 0, "of y wrong"},
    {"#define SCALE 0.5f", OUTCOME_WRONG, CAUSE_VALUE, 0, "of y wrong"},
    {"#define SCALE (negate ? -scale : scale)", OUTCOME_WRONG, CAUSE_VALUE, 0, "of y wrong"},
    {"#define AFTER y[cols] = 0", OUTCOME_OVERRUN, CAUSE_GAP, SCALED_Y,
     "wrote outside y, in the gap after row 0, 1 past its last element"},
    {"#define AFTER y[ldy + cols + 1] = 0", OUTCOME_OVERRUN, CAUSE_GAP, SCALED_Y,
     "in the gap after row 1, 2 past its last element"},
    {"#define AFTER ((float *)x)[ldx - 1] = 0", OUTCOME_OVERRUN, CAUSE_GAP, SCALED_X,
     "wrote outside x, in the gap after row 0, 2 past its last element"},
    {"#define AFTER ((float *)x)[ldx] = 0", OUTCOME_MODIFIED, CAUSE_INPUT, SCALED_X, "changed its input x"},
    {"#define AFTER ((bool *)mask)[0] ^= 1", OUTCOME_MODIFIED, CAUSE_INPUT, SCALED_MASK,
     "changed its input mask"},
    /* a comparison passes over a NaN, and gaps hold other things, too */
    {"#define AFTER if (x[ldx - 1] > 1e30f || x[ldx - 1] < -1e30f) y[0] ^= 64", OUTCOME_WRONG, CAUSE_VALUE, 0,
     "of y wrong"},
    /* the last row ends with its last element */
    {"#define AFTER y[(rows - 1) * ldy + cols] = 0", OUTCOME_OVERRUN, CAUSE_SLACK, SCALED_Y, "past its end"},
    {"#define AFTER if (calls == 3) y[(rows - 1) * ldy + cols] = 0", OUTCOME_OVERRUN, CAUSE_GUARD, SCALED_Y,
     "touched memory above"},
    {"#define AFTER if (calls == 3 && x[rows * ldx - 1] > 1) return 2", OUTCOME_OVERRUN, CAUSE_GUARD,
     SCALED_X, "touched memory above"},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* Rows 5 wide, 7 and 9 apart. */
START_TEST(what_touches_a_gap_or_ignores_an_argument_fails)
{
    SHARE_TEST(_i / PROBLEMS + _i, 2);
    open_kernel(problem_number(_i % PROBLEMS), faults[_i / PROBLEMS].macros);
    const struct config_result result =
        check(problem_number(_i % PROBLEMS), "rows=3 cols=5 gap_x=2 gap_y=4 negate=1 seed=1");
    ck_assert_msg(result.outcome == faults[_i / PROBLEMS].outcome, "%s: %s: %s", faults[_i / PROBLEMS].macros,
                  outcome_name(result.outcome), result.detail);
    ck_assert_int_eq(result.reason.cause, faults[_i / PROBLEMS].cause);
    ck_assert_int_eq(result.reason.tensor, faults[_i / PROBLEMS].tensor);
    ck_assert_msg(strstr(result.detail, faults[_i / PROBLEMS].detail) != NULL, "%s", result.detail);
    close_kernel();
}
END_TEST

START_TEST(an_output_that_is_not_written_is_found_in_every_format)
{
    open_kernel(problem_number(_i), "#define LAST (cols - 1)");
    const struct config_result result =
        check(problem_number(_i), "rows=30 cols=5 gap_x=2 gap_y=4 negate=1 seed=1");
    ck_assert_int_eq(result.outcome, OUTCOME_UNWRITTEN);
    ck_assert_int_eq(result.wrong % 30, 0); /* the last of each row, in every call */
    close_kernel();
}
END_TEST

/* Elements to keep have their old bits, in rows that lie apart as elsewhere. */
START_TEST(an_in_out_element_that_is_to_be_kept_may_not_change)
{
    const char *line = "rows=9 cols=64 gap_x=1 gap_y=7 negate=0 seed=3";
    open_kernel(&problem_scaled_inout,
                "#define AFTER for (int64_t c = 0; c < cols; c++) if (!mask[c]) y[ldy + c] ^= 1");
    const struct config_result result = check(&problem_scaled_inout, line);
    ck_assert_msg(result.outcome == OUTCOME_WRONG, "%s", result.detail);
    ck_assert_msg(strstr(result.detail, "had to keep their bits") != NULL, "%s", result.detail);
    ck_assert_msg(strstr(result.detail, "the first at [1,") != NULL, "%s", result.detail);
    close_kernel();
}
END_TEST

/* In the first call from the lower guards on: never better aligned than promised. */
START_TEST(a_base_is_as_aligned_as_promised_and_no_more)
{
    open_kernel(&problem_scaled_f16,
                "#define A(p) ((uintptr_t)(p))\n"
                "#define AFTER if (A(x) % 4 || A(bias) % 8 || A(y) % 2 || A(weight) % 16) return 1; \\\n"
                "    if (calls < 3 && (A(x) % 8 != 4 || A(mask) % 2 != 1 || A(bias) % 16 != 8 || A(y) % 4 != "
                "2)) return 2");
    for (int i = 0; i < LINES; i++) {
        const struct config_result result = check(&problem_scaled_f16, lines[i]);
        ck_assert_msg(result.outcome == OUTCOME_PASS, "%s: %s", lines[i], result.detail);
    }
    close_kernel();
}
END_TEST

static const char *const empty[] = {"rows=0 cols=5 gap_x=2 gap_y=4 negate=0 seed=1",
                                    "rows=3 cols=0 gap_x=2 gap_y=4 negate=1 seed=2",
                                    "rows=3 cols=0 gap_x=0 gap_y=0 negate=1 seed=2",
                                    "rows=0 cols=0 gap_x=0 gap_y=0 negate=0 input=steep seed=3"};

START_TEST(tensors_without_elements_pass_when_nothing_is_touched)
{
    open_kernel(problem_number(_i), "#define AFTER if (!x || !y || !mask) return 1");
    for (int i = 0; i < 4; i++) {
        struct config_result result = check(problem_number(_i), empty[i]);
        const struct config config = parse_line(problem_number(_i), empty[i]);
        ck_assert_msg(result.outcome == OUTCOME_PASS, "%s: %s", empty[i], result.detail);
        ck_assert_int_eq(result.judged, 0);
        ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
        ck_assert_int_eq(result.outcome, OUTCOME_PASS);
    }
    close_kernel();
}
END_TEST

START_TEST(writing_to_a_tensor_without_elements_is_an_overrun)
{
    static const char *const writes[] = {"#define AFTER y[0] = 0", "#define AFTER if (calls == 3) y[0] = 0",
                                         "#define AFTER if (calls == 3 && x[0] > 1) return 1"};
    open_kernel(&problem_scaled_f16, writes[_i]);
    const struct config_result result = check(&problem_scaled_f16, empty[0]);
    ck_assert_msg(result.outcome == OUTCOME_OVERRUN, "%s", result.detail);
    ck_assert_int_eq(result.reason.cause, _i ? CAUSE_GUARD : CAUSE_SLACK);
    close_kernel();
}
END_TEST

START_TEST(the_declaration_names_every_type)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    header_write(file, &problem_scaled_f16);
    fclose(file);
    const char *const want[] = {"int scaled_f16(const float *x, const bool *mask, const unseen_f16 *weight, "
                                "const unseen_e5m2 *bias, unseen_f16 *y, "
                                "int64_t rows, int64_t cols, int64_t ldx, int64_t ldy, int32_t offset, bool "
                                "negate, float scale, double shift, "
                                "UNSEEN_STREAM stream);\n",
                                "#include <stdbool.h>\n",
                                "#include <cuda_fp16.h>\n",
                                "typedef __half unseen_f16;\n",
                                "typedef __nv_fp8_e5m2 unseen_e5m2;\n",
                                "rows lie ldx apart; aligned to 4 bytes",
                                "dense, aligned to 16 bytes, where nothing else is said."};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_msg(strstr(text, want[i]) != NULL, "%s lacks %s", text, want[i]);
    free(text);
}
END_TEST

Suite *contract_suite(void)
{
    Suite *suite = suite_create("contract");
    TCase *tests = tcase_create("wider");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_kernel_that_uses_every_argument_and_every_pitch_passes, 0, PROBLEMS);
    tcase_add_loop_test(tests, what_touches_a_gap_or_ignores_an_argument_fails, 0, PROBLEMS * FAULTS);
    tcase_add_loop_test(tests, an_output_that_is_not_written_is_found_in_every_format, 0, 2);
    tcase_add_test(tests, an_in_out_element_that_is_to_be_kept_may_not_change);
    tcase_add_test(tests, a_base_is_as_aligned_as_promised_and_no_more);
    tcase_add_loop_test(tests, tensors_without_elements_pass_when_nothing_is_touched, 0, PROBLEMS);
    tcase_add_loop_test(tests, writing_to_a_tensor_without_elements_is_an_overrun, 0, 3);
    tcase_add_test(tests, the_declaration_names_every_type);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, contract_draw_case());
    suite_add_tcase(suite, contract_formats_case());
    return suite;
}
