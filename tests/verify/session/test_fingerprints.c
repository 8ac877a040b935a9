/* Timed calls that another process computes again: the faults that this finds, those that it does not, and
 * the kernels that it accepts. */
#include <check.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/device/fingerprint.h"
#include "verify/session/series.h"

/* --- the sum --- */

/* The sum that fingerprint.h defines, word for word, in order. */
static uint64_t plain_sum(const unsigned char *p, size_t bytes, uint64_t key)
{
    uint64_t sum = 0;
    for (size_t i = 0; 8 * i < bytes; i++) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && 8 * i + k < bytes; k++)
            word |= (uint64_t)p[8 * i + k] << 8 * k;
        sum += fingerprint_mix(word, i, key);
    }
    return sum;
}

static uint64_t sum_of(const void *memory, size_t bytes, uint64_t key)
{
    uint64_t sum = 1;
    ck_assert_int_eq(memory_of(BACKEND_HOST)->fingerprint(memory, bytes, key, &sum), 0);
    return sum;
}

START_TEST(the_same_bytes_have_one_fingerprint_wherever_they_lie)
{
    enum { MOST = 5 << 20, SHIFT = 3 };
    static const size_t sizes[] = {0, 1, 7, 8, 9, 63, 4096, 4099, MOST - 13, MOST};
    unsigned char *p = malloc(MOST), *q = malloc(MOST + SHIFT);
    ck_assert(p && q);
    for (size_t i = 0; i < MOST; i++)
        p[i] = q[i + SHIFT] = (unsigned char)(i * i >> 3);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t want = plain_sum(p, sizes[i], 77);
        ck_assert_uint_eq(sum_of(p, sizes[i], 77), want);
        ck_assert_uint_eq(sum_of(q + SHIFT, sizes[i], 77), want);
        omp_set_num_threads(1);
        ck_assert_uint_eq(sum_of(p, sizes[i], 77), want);
        omp_set_num_threads(3);
    }
    free(p);
    free(q);
}
END_TEST

START_TEST(other_bytes_places_lengths_and_keys_have_others)
{
    enum { BYTES = 203 };
    unsigned char p[BYTES + 9] = {0};
    const uint64_t zeros = sum_of(p, BYTES, 5);
    uint64_t seen[BYTES];
    ck_assert_uint_ne(zeros, sum_of(p, BYTES + 8, 5));
    ck_assert_uint_ne(zeros, sum_of(p, BYTES, 6));
    for (int i = 0; i < BYTES; i++) {
        p[i] = 1;
        seen[i] = sum_of(p, BYTES, 5);
        p[i] = 0;
        ck_assert_uint_ne(seen[i], zeros);
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(seen[i], seen[k]);
    }
}
END_TEST

/* --- candidates --- */

/* A right softmax, then the code that a test adds; `calls` counts those of its process. */
static const char source[] =
    "#include <math.h>\n#include <signal.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include "
    "<time.h>\n#include <unistd.h>\n"
    "static int calls;\n"
    "static unsigned chance(void)\n{\n    struct timespec t;\n    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (unsigned)t.tv_nsec * 2654435761u >> 8;\n}\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
    "    (void)stream;\n    (void)chance;\n    calls++;\n    float *const out = y;\n    (void)out;\n    %s\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        double most = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) most = x[c] > most ? x[c] : most;\n"
    "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);\n    }\n"
    "    %s\n    return 0;\n}\n";

enum { CONFIGS = 4 };
static char folder[32];
static struct build build[2]; /* the second replaces the first where a test asks for it */
static struct device device;
static struct session *session;
static struct config config[CONFIGS];
static struct config_result result[CONFIGS];
static struct fingerprints prints[CONFIGS];

static void build_kernel(struct build *into, const char *before, const char *after)
{
    char path[64], error[4096] = "";
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, source, before, after);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {.path = path, .timeout = 60};
    ck_assert_msg(build_candidate(into, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
}

static void set_configs(int seed)
{
    char line[80];
    struct space_error problem;
    for (int i = 0; i < CONFIGS; i++) {
        snprintf(line, sizeof line, "rows=3 cols=%d seed=%d", 100 + i, seed);
        ck_assert_int_eq(config_parse(&config[i], problem_find("softmax"), line, "test", &problem), 0);
    }
}

static void open_kernel(const char *before, const char *after)
{
    char error[512] = "";
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    memset(build, 0, sizeof build);
    build_kernel(&build[0], before, after);
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    set_configs(1);
    session = session_open(&(struct session_options){.problem = config[0].problem,
                                                     .device = &device,
                                                     .object = build[0].object,
                                                     .timeout = 1,
                                                     .threads = 2,
                                                     .workers = 1});
    ck_assert_ptr_nonnull(session);
}

static void close_kernel(void)
{
    session_close(session);
    for (int i = 0; i < 2; i++)
        if (build[i].object[0])
            build_clear(&build[i]);
    rmdir(folder);
}

static void time_all(int seed)
{
    static const double enough = 1; /* seconds for ten calls of each, far more than they need */
    struct timing_job job[CONFIGS];
    int taken = 0;
    set_configs(seed);
    memset(result, 0, sizeof result);
    memset(prints, 0, sizeof prints);
    for (int i = 0; i < CONFIGS; i++)
        job[i] = (struct timing_job){
            .config = &config[i], .budget_seconds = enough, .result = &result[i], .prints = &prints[i]};
    ck_assert_int_eq(session_time_several(session, job, CONFIGS, &taken), SESSION_OK);
    ck_assert_int_eq(taken, CONFIGS);
}

/* The configurations that passed; how many of them do no longer. */
static int recompute(struct recomputed *found)
{
    static const double whatever = 1e9; /* its seconds: here no time limit decides how much is computed
                                         * again */
    struct recompute_job job[CONFIGS];
    int count = 0, failed = 0;
    for (int i = 0; i < CONFIGS; i++)
        if (result[i].outcome == OUTCOME_PASS)
            job[count++] = (struct recompute_job){&config[i], &prints[i], &result[i]};
    ck_assert_msg(session_recompute(session, job, count, whatever, found) == SESSION_OK, "%s",
                  session_error(session));
    for (int i = 0; i < count; i++)
        failed += job[i].result->outcome != OUTCOME_PASS;
    return failed;
}

static void expect_no_finding(void)
{
    int findings;
    session_findings(session, &findings);
    ck_assert_int_eq(findings, 0);
}

START_TEST(an_honest_kernel_answers_alike_and_is_left_alone)
{
    struct recomputed found;
    open_kernel("", "");
    time_all(1);
    for (int i = 0; i < CONFIGS; i++)
        ck_assert_int_eq(prints[i].count, FINGERPRINTS_MOST);
    ck_assert_int_eq(recompute(&found), 0);
    ck_assert_int_eq(found.compared, CONFIGS * FINGERPRINTS_MOST);
    ck_assert_int_eq(found.suspects, 0);
    ck_assert(!found.varies);
    close_kernel();
}
END_TEST

/* One call in four, by a clock, and none of these is judged. */
START_TEST(who_is_idle_now_and_then_is_wrong_in_a_timed_call)
{
    int failed = 0;
    open_kernel("if (calls > 8 && chance() % 4 == 0) return 0;", "");
    defence_remove("judged");
    for (int seed = 1; seed <= 2; seed++) {
        struct recomputed found;
        time_all(seed);
        failed += recompute(&found);
        for (int i = 0; i < CONFIGS; i++) {
            if (result[i].outcome == OUTCOME_PASS)
                continue;
            ck_assert_int_eq(result[i].outcome, OUTCOME_UNWRITTEN);
            ck_assert_int_eq(result[i].reason.stage, STAGE_TIMED);
            ck_assert(config_equal(&result[i].timed_config, &config[i]));
            ck_assert_ptr_nonnull(strstr(result[i].detail, "in a timed call made again (number "));
        }
    }
    ck_assert_int_gt(failed, 1);
    expect_no_finding();
    close_kernel();
}
END_TEST

/* Bits that no two calls have in common, or no two processes, within the allowed error. */
static const char *const varying[] = {"chance()", "(mine = mine ? mine : chance() | 1 << 20)"};

START_TEST(bits_that_vary_from_run_to_run_say_nothing)
{
    struct recomputed found;
    char after[300];
    snprintf(after, sizeof after,
             "static unsigned mine; (void)mine; const unsigned bits = %s;\n"
             "for (int i = 0; i < 20; i++) if (bits >> i & 1) out[i] = nextafterf(out[i], 1);",
             varying[_i]);
    open_kernel("", after);
    time_all(1);
    ck_assert_int_eq(recompute(&found), 0);
    ck_assert(found.varies);
    ck_assert_int_eq(found.compared, 1);
    ck_assert_int_eq(found.suspects, 0);
    close_kernel();
}
END_TEST

/* Every process does the same, and its first calls differ from the later ones. The judge looks into that
 * twice and finds nothing wrong. */
START_TEST(who_tunes_itself_is_judged_and_believed)
{
    struct recomputed found;
    open_kernel("", "if (calls > 20) out[3] = nextafterf(out[3], 1);");
    time_all(1);
    ck_assert_int_eq(recompute(&found), 0);
    ck_assert(found.suspects > 0 && found.suspects <= 2);
    ck_assert(!found.varies);
    expect_no_finding();
    close_kernel();
}
END_TEST

/* Another kernel is loaded when timed calls are computed again. Its end says nothing about those calls,
 * unless its values are wrong. */
static const struct {
    const char *before, *after;
    int suspects, failed;
} later[] = {
    {"", "", 0, 0},
    {"abort();", "", 1, 0},
    {"usleep(900000);", "", 1, 0},
    {"kill(getpid(), 9);", "", 1, 0},
    {"", "out[3] = 7;", 1, 1},
};
enum { LATER = sizeof later / sizeof *later };

START_TEST(only_wrong_values_accuse)
{
    struct recomputed found;
    open_kernel("", "");
    build_kernel(&build[1], later[_i].before, later[_i].after);
    time_all(1);
    ck_assert_int_eq(rename(build[1].object, build[0].object), 0);
    if (strstr(later[_i].before, "usleep"))
        session_limit(session, 0.2);
    const int failed = recompute(&found);
    ck_assert_int_eq(failed > 0, later[_i].failed);
    ck_assert_int_eq(found.suspects > 0, later[_i].suspects);
    ck_assert(later[_i].failed || found.suspects <= 1);
    ck_assert(!found.varies);
    close_kernel();
}
END_TEST

/* --- which calls --- */

static void run_series(struct series *series, int calls, struct fingerprints *taken)
{
    struct series_call call;
    *series = (struct series){.where = "a timed call", .prints = taken};
    session->buffers.now = session->buffers.setup;
    ck_assert_int_eq(series_open(series, session, &config[0], 2), 0);
    for (int i = 0; i < calls; i++)
        ck_assert_msg(series_call(series, session, &call), "%s", series->ended.detail);
    series_close(series, session);
}

/* The draws, and the calls that are judged, are the same. */
START_TEST(fingerprints_change_nothing_that_was_drawn_before)
{
    struct series with, without;
    open_kernel("", "");
    for (int seed = 1; seed <= 3; seed++) {
        set_configs(seed);
        run_series(&with, 50, &prints[0]);
        run_series(&without, 50, NULL);
        ck_assert_int_eq(memcmp(&with.content, &without.content, sizeof with.content), 0);
        for (int k = 0; k < KEEP_COUNT; k++) {
            ck_assert_int_eq(with.kept[k].number, without.kept[k].number);
            ck_assert_int_eq(memcmp(&with.kept[k].content, &without.kept[k].content, sizeof with.content), 0);
        }
    }
    close_kernel();
}
END_TEST

/* Eight different ones that count, the last as often as the first. */
START_TEST(calls_are_chosen_evenly)
{
    enum { CALLS = 64, SEEDS = 10 };
    int early = 0, all = 0;
    struct series series;
    open_kernel("", "");
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct fingerprints *taken = &prints[0];
        set_configs(seed);
        run_series(&series, CALLS, taken);
        fingerprints_sort(taken);
        ck_assert_int_eq(taken->count, FINGERPRINTS_MOST);
        for (int i = 0; i < taken->count; i++) {
            ck_assert_int_gt(taken->item[i].number, i ? taken->item[i - 1].number : 1);
            ck_assert(!taken->item[i].content.near.present);
            early += taken->item[i].number <= CALLS / 2;
            all++;
        }
    }
    /* about 40 of 80; a deviation beyond 5 deviations of a binomial is no chance */
    ck_assert_msg(abs(2 * early - all) < 5 * sqrt(all), "%d of %d", early, all);
    close_kernel();
}
END_TEST

TCase *fingerprints_case(void)
{
    TCase *tests = tcase_create("fingerprints");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_same_bytes_have_one_fingerprint_wherever_they_lie);
    tcase_add_test(tests, other_bytes_places_lengths_and_keys_have_others);
    tcase_add_test(tests, an_honest_kernel_answers_alike_and_is_left_alone);
    tcase_add_test(tests, who_is_idle_now_and_then_is_wrong_in_a_timed_call);
    tcase_add_loop_test(tests, bits_that_vary_from_run_to_run_say_nothing, 0, 2);
    tcase_add_test(tests, who_tunes_itself_is_judged_and_believed);
    tcase_add_loop_test(tests, only_wrong_values_accuse, 0, LATER);
    tcase_add_test(tests, fingerprints_change_nothing_that_was_drawn_before);
    tcase_add_test(tests, calls_are_chosen_evenly);
    return tests;
}
