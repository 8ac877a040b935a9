/* Several outputs and in-out tensors through a session. Each output counts in outcome, sentence, worst
 * element and pattern. The content of a tensor in place is put back before every call. */
#include <string.h>

#include "forms_session.h"
#include "suites.h"
#include "verify/session/session_timing.h"
#include "verify/selftest/audit.h"

#define HEAD                                                                                                 \
    "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"                                          \
    "static float value(uint16_t b) { uint32_t w = (uint32_t)b << 16; float f; memcpy(&f, &w, 4); "          \
    "return f; }\n"                                                                                          \
    "static uint16_t bits(float f) { uint32_t w; memcpy(&w, &f, 4);\n"                                       \
    "  return (uint16_t)((w + 0x7fffu + (w >> 16 & 1)) >> 16); }\n"

/* `after` stands behind honest work. */
#define EXTREMES(after)                                                                                      \
    HEAD "int extremes(const uint16_t *x, uint16_t *top, float *total, int64_t rows, int64_t cols, "         \
         "void *stream)\n"                                                                                   \
         "{ for (int64_t r = 0; r < rows; r++) { const uint16_t *row = x + r * cols; float sum = 0;\n"       \
         "  top[r] = row[0]; for (int64_t c = 0; c < cols; c++) { sum += value(row[c]);\n"                   \
         "    if (value(row[c]) > value(top[r])) top[r] = row[c]; } total[r] = sum; }\n" after               \
         "  return 0; }\n"
#define APPEND(before, after)                                                                                \
    HEAD "int append(const float *x, const int32_t *slot, uint16_t *cache, int64_t tokens, int64_t slots,\n" \
         "           int64_t dim, void *stream)\n{ " before                                                  \
         "  for (int64_t t = 0; t < tokens; t++) for (int64_t d = 0; d < dim; d++) {\n"                      \
         "    uint16_t *at = &cache[slot[t] * dim + d]; *at = bits(value(*at) + x[t * dim + d]); }\n" after  \
         "  return 0; }\n"
#define NORM(after)                                                                                          \
    HEAD "int norm(const float *x, float *y, int64_t vectors, int64_t n, void *stream)\n"                    \
         "{ for (int64_t v = 0; v < vectors; v++) { double s = 0;\n"                                         \
         "  for (int64_t i = 0; i < n; i++) s += (double)x[v * n + i] * x[v * n + i];\n"                     \
         "  y[v] = (float)sqrt(s); }\n" after " return 0; }\n"
/* Two elements a byte, the even one in the lower half. */
#define FP4(after)                                                                                           \
    HEAD "static const float numbers[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};\n"                                 \
         "static float weight(const uint8_t *w, int64_t i) { int b = w[i / 2] >> i % 2 * 4;\n"               \
         "  return b & 8 ? -numbers[b & 7] : numbers[b & 7]; }\n"                                            \
         "static int nearest(float v) { int b = 0; for (int i = 1; i < 8; i++) {\n"                          \
         "    float old = fabsf(fabsf(v) - numbers[b]), d = fabsf(fabsf(v) - numbers[i]);\n"                 \
         "    if (d < old || (d == old && i % 2 == 0)) b = i; } return b | (signbit(v) ? 8 : 0); }\n"        \
         "static float e4m3(uint8_t b) { int e = b >> 3 & 15, m = b & 7;\n"                                  \
         "  return e ? ldexpf(8 + m, e - 10) : ldexpf(m, -9); }\n"                                           \
         "int fp4(const uint8_t *w, const uint8_t *scale, const float *step, uint8_t *q, int64_t rows,\n"    \
         "        int64_t blocks, void *stream)\n{ for (int64_t i = 0; i < rows * blocks * 16; i++) {\n"     \
         "    int b = nearest(weight(w, i) * e4m3(scale[i / 16]) + step[i]);\n"                              \
         "    q[i / 2] = i % 2 ? q[i / 2] & 15 | b << 4 : b; }\n" after " return 0; }\n"
/* A row of an append that no token names. */
#define KEPT_ROW                                                                                             \
    "int64_t kept = 0; for (int64_t t = 0; t < tokens; t++) if (slot[t] == kept) { kept++; t = -1; }\n"

#define EXTREMES_LINE "rows=40 cols=37 seed=3"
#define FP4_LINE "rows=7 blocks=3 seed=6"
#define APPEND_LINE "tokens=5 slots=12 dim=9 seed=4"

static const struct {
    const struct problem *problem;
    const char *line, *source;
    enum outcome outcome;
    const char *worst, *detail; /* the tensor; a part of the sentence; NULL: any */
} candidates[] = {
    {&problem_extremes, EXTREMES_LINE, EXTREMES(""), OUTCOME_PASS, NULL, ""},
    {&problem_extremes, EXTREMES_LINE, EXTREMES("total[3] += 100;"), OUTCOME_WRONG, "total",
     "1 of 40 elements of total wrong, the first at [3]"},
    {&problem_extremes, EXTREMES_LINE, EXTREMES("top[7] ^= 1;"), OUTCOME_WRONG, "top",
     "1 of 40 elements of top wrong, the first at [7]"},
    {&problem_extremes, EXTREMES_LINE, EXTREMES("top[7] ^= 1; total[3] += 100; total[5] += 100;"),
     OUTCOME_WRONG, "top",
     "1 of 40 elements of top wrong, the first at [7]; 2 of 40 elements of total wrong, the first at [3]"},
    {&problem_extremes, EXTREMES_LINE,
     EXTREMES("top[7] ^= 1; uint32_t p = 0x7fa57fa5; memcpy(&total[5], &p, 4);"), OUTCOME_UNWRITTEN, NULL,
     "of top wrong, the first at [7]; 1 of 40 elements of total never written, the first at [5]"},
    {&problem_extremes, EXTREMES_LINE, EXTREMES("total[rows] = 1;"), OUTCOME_OVERRUN, NULL, NULL},
    /* equal inputs, another total */
    {&problem_extremes, EXTREMES_LINE, EXTREMES("static int calls; if (++calls == 3) total[2] += 100;"),
     OUTCOME_UNSTABLE, "total", "0 elements of total wrong in one call and 1 in the next"},
    /* another total within its error, beside a top that is wrong in the same way: not unstable */
    {&problem_extremes, EXTREMES_LINE,
     EXTREMES("top[7] ^= 1; static int calls; if (++calls == 3) total[2] += 1e-6f * total[2];"),
     OUTCOME_WRONG, "top", "1 of 40 elements of top wrong, the first at [7]"},
    {&problem_append, APPEND_LINE, APPEND("", ""), OUTCOME_PASS, NULL, ""},
    {&problem_append, APPEND_LINE, APPEND("return 0;", ""), OUTCOME_WRONG, "cache",
     "elements of cache wrong"},
    {&problem_append, APPEND_LINE, APPEND("", KEPT_ROW "cache[kept * dim + 2] ^= 1;"), OUTCOME_WRONG, "cache",
     "1 of 108 elements of cache wrong"},
    {&problem_append, APPEND_LINE, APPEND("", KEPT_ROW "cache[kept * dim + 2] ^= 1;"), OUTCOME_WRONG, "cache",
     "; 1 of them had to keep their bits"},
    {&problem_append, APPEND_LINE, APPEND("", "((float *)x)[0] += 1;"), OUTCOME_MODIFIED, NULL,
     "changed its input x"},
    {&problem_append, APPEND_LINE, APPEND("", "cache[slots * dim] = 1;"), OUTCOME_OVERRUN, NULL, NULL},
    {&problem_norm, "vectors=3 n=400000 seed=5", NORM(""), OUTCOME_PASS, NULL, ""},
    {&problem_norm, "vectors=3 n=400000 seed=5", NORM("y[1] *= 1.1f;"), OUTCOME_WRONG, "y",
     "1 of 3 elements of y wrong, the first at [1]"},
    {&problem_fp4, FP4_LINE, FP4(""), OUTCOME_PASS, NULL, ""},
    {&problem_fp4, FP4_LINE, FP4("q[30] ^= q[30] < 64 ? 0x20 : 0x40;"), OUTCOME_WRONG, "q",
     "1 of 336 elements of q wrong, the first at [1,13]"},
    {&problem_fp4, FP4_LINE, FP4("for (int i = 0; i < 168; i++) q[i] |= 0xf0;"), OUTCOME_UNWRITTEN, NULL,
     "never written, the first at [0,"},
    {&problem_fp4, FP4_LINE, FP4("q[168] = 0;"), OUTCOME_OVERRUN, NULL, NULL},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

static struct form_run run;

START_TEST(a_candidate_has_its_outcome)
{
    form_run_open(&run, candidates[_i].problem, candidates[_i].line, candidates[_i].source, false);
    form_run_check(&run, candidates[_i].outcome);
    if (candidates[_i].detail)
        ck_assert_msg(strstr(run.result.detail, candidates[_i].detail) != NULL, "%s", run.result.detail);
    if (candidates[_i].worst)
        ck_assert_str_eq(run.result.worst.tensor, candidates[_i].worst);
    ck_assert(candidates[_i].outcome != OUTCOME_WRONG || run.result.worst.witnessed);
    form_run_close(&run);
}
END_TEST

START_TEST(every_element_of_every_output_is_judged)
{
    form_run_open(&run, &problem_extremes, EXTREMES_LINE, EXTREMES(""), false);
    form_run_check(&run, OUTCOME_PASS);
    /* the third call has the bits of the second; the fourth is on a near duplicate */
    ck_assert_int_eq(run.result.judged, 3 * 2 * 40);
    ck_assert_int_eq(run.result.witnessed, 2 * (1 + JUDGE_SAMPLES));
    form_run_close(&run);
}
END_TEST

START_TEST(a_replay_of_one_output_is_found)
{
    int count;
    form_run_open(&run, &problem_extremes, EXTREMES_LINE,
                  EXTREMES("static float kept[40]; static int calls;\n"
                           "memcpy(calls++ ? total : kept, calls ? kept : total, sizeof kept);"),
                  false);
    form_run_check(&run, OUTCOME_WRONG);
    const struct finding *finding = session_findings(run.session, &count);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(finding->kind, FINDING_REPLAY);
    ck_assert_msg(strstr(finding->evidence, "(40 of 40 elements of total wrong)") != NULL, "%s",
                  finding->evidence);
    form_run_close(&run);
}
END_TEST

START_TEST(the_pattern_names_its_tensor)
{
    struct pattern pattern = {.present = false};
    form_run_open(&run, &problem_extremes, EXTREMES_LINE, EXTREMES("total[39] += 100;"), false);
    session_observe(run.session, &pattern);
    form_run_check(&run, OUTCOME_WRONG);
    ck_assert(pattern.present);
    ck_assert_str_eq(pattern.text, "total: the last of 40 along rows");
    form_run_close(&run);
}
END_TEST

/* Additions to a tensor would accumulate over timed calls. */
START_TEST(a_tensor_in_place_is_put_back_between_timed_calls)
{
    form_run_open(&run, &problem_append, APPEND_LINE, APPEND("", ""), false);
    form_run_check(&run, OUTCOME_PASS);
    ck_assert_msg(session_time(run.session, &run.config, 0.05, &run.result) == SESSION_OK, "%s",
                  session_error(run.session));
    ck_assert_msg(run.result.outcome == OUTCOME_PASS, "%s", run.result.detail);
    ck_assert(run.result.timing.present && run.result.timing.samples >= 10);
    form_run_close(&run);
}
END_TEST

/* Too large for MPFR as a whole: it is audited in part, and the enclosure decides that it is wrong. */
START_TEST(an_endless_fold_is_audited_in_part)
{
    form_run_open(&run, &problem_norm, "vectors=1 n=20000001 seed=6", NORM(""), false);
    form_run_check(&run, OUTCOME_PASS);
    ck_assert_int_eq(run.result.witnessed, 1);
    form_run_close(&run);
    form_run_open(&run, &problem_norm, "vectors=1 n=20000001 seed=6", NORM("y[0] *= 10;"), false);
    form_run_check(&run, OUTCOME_WRONG);
    ck_assert(!run.result.worst.witnessed);
    form_run_close(&run);
}
END_TEST

START_TEST(an_output_that_nobody_judges_ends_it)
{
    static struct problem unjudged;
    struct config_result result = {0};
    unjudged = problem_extremes; /* its references belong to the other one */
    form_run_open(&run, &unjudged, EXTREMES_LINE, EXTREMES(""), false);
    ck_assert_int_eq(session_check(run.session, &run.config, &result), SESSION_BAD);
    ck_assert_msg(strstr(session_error(run.session), "nothing judges top, which extremes writes") != NULL,
                  "%s", session_error(run.session));
    ck_assert_ptr_nonnull(strstr(session_error(run.session), "\n---> "));
    form_run_close(&run);
}
END_TEST

/* --- null outputs --- */

static void audit(const struct problem *problem, const char *line, struct audit *out)
{
    static struct drawn drawn[2];
    struct task task = {.problem = problem};
    struct space_error error;
    char text[512];
    ck_assert_msg(device_open(&task.device, "host", text, sizeof text) == 0, "%s", text);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(config_parse(&drawn[i].config, problem, line, "test", &error) == 0, "%s", error.text);
        drawn[i].config.seed = (uint64_t)(7 + i);
    }
    task.seen_set = (struct drawn_list){&drawn[0], 1, 1};
    task.unseen_set = (struct drawn_list){&drawn[1], 1, 1};
    task.space.problem = problem;
    ck_assert_msg(audit_run(&task, out, NULL, text, sizeof text) == RUN_DONE, "%s", text);
    ck_assert_int_eq(out->skipped, 0);
}

static void expect_rejected(const struct audit *audit, enum null_kind kind)
{
    ck_assert_msg(audit->ours[kind].configs == 2 && audit->ours[kind].pass == 0, "%s: %d of %d",
                  null_name(kind), audit->ours[kind].pass, audit->ours[kind].configs);
}

/* Every output has its null. For a tensor in place "the input copied" is its old content. */
START_TEST(null_outputs_are_rejected)
{
    static const enum null_kind kinds[] = {NULL_ZEROS, NULL_ONES,      NULL_NAN,    NULL_INPUT,
                                           NULL_MEAN,  NULL_FIRST_ROW, NULL_RANDOM, NULL_PREVIOUS};
    static struct audit of_two, in_place;
    audit(&problem_extremes, "rows=40 cols=37", &of_two);
    audit(&problem_append, "tokens=5 slots=12 dim=9", &in_place);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        expect_rejected(&in_place, kinds[i]);
        if (kinds[i] != NULL_FIRST_ROW) /* a vector is its own first row */
            expect_rejected(&of_two, kinds[i]);
    }
}
END_TEST

TCase *forms_session_case(void)
{
    TCase *tcase = tcase_create("session");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_candidate_has_its_outcome, 0, CANDIDATES);
    tcase_add_test(tcase, every_element_of_every_output_is_judged);
    tcase_add_test(tcase, a_replay_of_one_output_is_found);
    tcase_add_test(tcase, the_pattern_names_its_tensor);
    tcase_add_test(tcase, a_tensor_in_place_is_put_back_between_timed_calls);
    tcase_add_test(tcase, an_endless_fold_is_audited_in_part);
    tcase_add_test(tcase, an_output_that_nobody_judges_ends_it);
    tcase_add_test(tcase, null_outputs_are_rejected);
    return tcase;
}
