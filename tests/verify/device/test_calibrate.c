/* Stored ceilings: the file, and when a run trusts it. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scores_record.h"
#include "suites.h"
#include "verify/device/calibration.h"
#include "verify/device/spot_check.h"

/* --- decisions of a spot check, on measurements of the test's own --- */

enum { FP32 = FIGURE_RATE + RATE_F32, CORES = 4 };

static const struct figures kept = {
    .value = {[FIGURE_COPY] = 40, [FIGURE_COPY_CORE] = 20, [FP32] = 1, [FIGURE_LAUNCH] = 0.05}};

/* Each measurement is the stored one, slower by its factor: copies, then all else. */
struct script {
    struct {
        double all, copy, rest;
    } step[8];
    int steps, at;
    double waited;
};

static bool next(void *data, struct figures *out)
{
    struct script *const s = data;
    const int i = s->at < s->steps ? s->at : s->steps - 1;
    s->at++;
    out->value[FIGURE_COPY] = 40 * s->step[i].all;
    out->value[FIGURE_COPY_CORE] = 20 * s->step[i].copy;
    out->value[FP32] = s->step[i].rest;
    out->value[FIGURE_LAUNCH] = 0.05 / s->step[i].rest;
    return true;
}

static void wait_for(void *data, double seconds)
{
    ((struct script *)data)->waited += seconds;
}

static struct spot check(struct script *script, const struct figures *what)
{
    const struct spot_hooks hooks = {next, wait_for, script};
    struct spot spot;
    spot_check(what, CORES, &hooks, &spot);
    return spot;
}

START_TEST(a_machine_as_fast_as_its_calibration_is_measured_once)
{
    struct script script = {.step = {{0.95, 0.92, 1.04}}, .steps = 1};
    const struct spot spot = check(&script, &kept);
    ck_assert(!spot.slow && !spot.raised);
    ck_assert_int_eq(spot.attempts, 1);
    ck_assert_mem_eq(&spot.figures, &kept, sizeof kept);
    ck_assert(script.waited == 0);
}
END_TEST

START_TEST(a_slow_machine_is_measured_again_and_then_not_comparable)
{
    struct script script = {.step = {{1, 1, 0.85}}, .steps = 1};
    const struct spot spot = check(&script, &kept);
    ck_assert(spot.slow && !spot.raised);
    ck_assert_int_eq(spot.attempts, SPOT_ATTEMPTS);
    ck_assert_double_eq_tol(spot.ratio, 0.85, 1e-9);
    ck_assert(script.waited > 0 && script.waited < 3);
    ck_assert_mem_eq(&spot.figures, &kept, sizeof kept); /* nothing is lowered */
}
END_TEST

/* One attempt may show a figure that another one missed: the best of each counts. */
START_TEST(a_machine_that_was_disturbed_is_forgiven)
{
    struct script script = {.step = {{1, 0.5, 1}, {1, 1, 0.5}}, .steps = 2};
    const struct spot spot = check(&script, &kept);
    ck_assert(!spot.slow);
    ck_assert_int_eq(spot.attempts, 2);
}
END_TEST

/* Beside other programs all cores are rarely free at once, but a greater figure than with all of them is
 * impossible. */
START_TEST(a_copy_by_all_cores_is_believed_as_far_as_one_core_allows)
{
    struct script busy = {.step = {{0.5, 1, 1}}, .steps = 1}, same = busy;
    struct figures doctored = kept;
    ck_assert(!check(&busy, &kept).slow);
    doctored.value[FIGURE_COPY] = 3 * 40;
    const struct spot spot = check(&same, &doctored);
    ck_assert(spot.slow);
    ck_assert_int_eq(spot.which, FIGURE_COPY);
    ck_assert_double_eq_tol(spot.ratio, CORES * 20 / 120.0, 1e-9);
}
END_TEST

START_TEST(a_faster_machine_raises_what_is_kept_to_what_two_measurements_say)
{
    struct script script = {.step = {{1, 1, 1.5}, {1, 1, 1.25}}, .steps = 2};
    const struct spot spot = check(&script, &kept);
    ck_assert(spot.raised && !spot.slow);
    ck_assert_double_eq_tol(spot.figures.value[FP32], 1.25, 1e-12);
    ck_assert_double_eq_tol(spot.figures.value[FIGURE_LAUNCH], 0.05 / 1.25, 1e-12);
    ck_assert(spot.figures.value[FIGURE_COPY] == 40);
}
END_TEST

START_TEST(one_fast_measurement_is_a_fluke)
{
    struct script script = {.step = {{1, 3, 1}, {1, 1, 1}}, .steps = 2};
    const struct spot spot = check(&script, &kept);
    ck_assert(!spot.raised);
    ck_assert_mem_eq(&spot.figures, &kept, sizeof kept);
}
END_TEST

START_TEST(rounds_keep_the_best_and_say_how_far_the_worst_was)
{
    struct figures figures = {0};
    static const double rate[] = {8, 10, 9}, time[] = {5, 4, 6};
    for (int i = 0; i < 3; i++) {
        figures_round(&figures, FIGURE_COPY, rate[i]);
        figures_round(&figures, FIGURE_LAUNCH, time[i]);
    }
    figures_round(&figures, FIGURE_COPY, 0); /* nothing was measured */
    ck_assert_double_eq_tol(figures.value[FIGURE_COPY], 10, 1e-12);
    ck_assert_double_eq_tol(figures.spread[FIGURE_COPY], 0.2, 1e-12);
    ck_assert_double_eq_tol(figures.value[FIGURE_LAUNCH], 4, 1e-12);
    ck_assert_double_eq_tol(figures.spread[FIGURE_LAUNCH], 0.5, 1e-12);
}
END_TEST

/* --- the file --- */

static char path[64], hash[CALIBRATION_HASH], why[1024];
static const struct device host = {.backend = BACKEND_HOST,
                                   .name = "A CPU",
                                   .driver = "6.1",
                                   .uuid = "host",
                                   .processors = CORES,
                                   .clock_mhz = 3000};

static void open_file(void)
{
    strcpy(path, "/tmp/unseen-peaks-XXXXXX");
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void close_file(void)
{
    unlink(path);
}

static void put(const char *text)
{
    FILE *const out = fopen(path, "we");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

static void keep_for(const struct device *device)
{
    struct calibration c;
    calibration_describe(device, &c);
    c.figures = kept;
    ck_assert_msg(calibration_write(path, true, &c, hash, why, sizeof why) == 0, "%s", why);
}

static enum calibration_fit fit_of(const struct device *device, struct calibration *out)
{
    char of_file[CALIBRATION_HASH];
    const enum calibration_fit fit = calibration_read(path, device, out, of_file, why, sizeof why);
    if (fit == CALIBRATION_FITS)
        ck_assert_str_eq(of_file, hash);
    return fit;
}

START_TEST(a_calibration_reads_back_as_it_was)
{
    struct calibration c;
    keep_for(&host);
    ck_assert_int_eq(fit_of(&host, &c), CALIBRATION_FITS);
    ck_assert_mem_eq(&c.figures, &kept, sizeof kept);
    ck_assert_int_eq((int)strlen(c.date), 20);
    ck_assert_str_eq(c.raised, "");
    ck_assert(c.clock_mhz == 3000 && c.memory_clock_mhz == 0);
    unlink(path);
    ck_assert_int_eq(fit_of(&host, &c), CALIBRATION_MISSING);
}
END_TEST

START_TEST(another_driver_makes_it_stale_and_another_device_foreign)
{
    struct device other = host;
    struct calibration c;
    keep_for(&host);
    strcpy(other.driver, "6.2");
    ck_assert_int_eq(fit_of(&other, &c), CALIBRATION_STALE);
    ck_assert_msg(strstr(why, "driver 6.1") && strstr(why, "6.2"), "%s", why);
    other = host;
    other.processors = CORES / 2;
    ck_assert_int_eq(fit_of(&other, &c), CALIBRATION_FOREIGN);
    other = host;
    strcpy(other.name, "Another CPU");
    ck_assert_int_eq(fit_of(&other, &c), CALIBRATION_FOREIGN);
    ck_assert_msg(strstr(why, "expected Another CPU"), "%s", why);
}
END_TEST

START_TEST(what_is_no_calibration_is_never_believed)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"kind\": \"unseen calibration\", \"schema\": 1}",
        "{\"kind\": \"unseen calibration\", \"schema\": 2, \"date\": \"x\"}",
        "{\"kind\": \"unseen calibration\", \"schema\": 1, \"date\": \"x\", \"figures\": "
        "{\"copy_gbps\": {\"value\": -1}, \"launch_us\": {\"value\": 1}}}",
        "{\"kind\": \"unseen calibration\", \"schema\": 1, \"date\": \"x\", \"figures\": "
        "{\"copy_gbps\": {\"value\": 1}}}"};
    struct calibration c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(bad[i]);
        ck_assert_msg(fit_of(&host, &c) == CALIBRATION_FOREIGN, "'%s'", bad[i]);
        ck_assert_msg(strstr(why, "expected what unseen calibrate writes"), "%s", why);
    }
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(fit_of(&host, &c), CALIBRATION_FOREIGN);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* --- scores on a slow machine --- */

START_TEST(a_slow_machine_takes_scores_back_that_lean_on_ceilings)
{
    fill_record();
    configs[4].unseen = false; /* the seen set has a failure, the unseen one is whole */
    record.planned = 5;
    record.planned_seen = 3;
    record.peaks.incomparable = true;
    strcpy(record.peaks.why, "the machine is at 70% of its calibration");
    fill_scores(NULL);
    static const enum score_name taken[] = {SCORE_OURS, SCORE_PEAK_FRACTION, SCORE_SOL};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        ck_assert_int_eq(unseen_score(taken[i])->state, SCORE_INCOMPARABLE);
        ck_assert_str_eq(unseen_score(taken[i])->reason, record.peaks.why);
    }
    expect_score(unseen_score(SCORE_PASS_RATE), 1);
    expect_score(unseen_score(SCORE_FAST_1), 0.5);             /* both sides were measured in the same
                                                                * minutes */
    expect_score(&record.scores.seen[SCORE_PEAK_FRACTION], 0); /* one does not pass, however fast it is */
}
END_TEST

Suite *calibrate_suite(void)
{
    Suite *suite = suite_create("calibrate");
    TCase *spot = tcase_create("spot"), *file = tcase_create("file");
    tcase_add_test(spot, a_machine_as_fast_as_its_calibration_is_measured_once);
    tcase_add_test(spot, a_slow_machine_is_measured_again_and_then_not_comparable);
    tcase_add_test(spot, a_machine_that_was_disturbed_is_forgiven);
    tcase_add_test(spot, a_copy_by_all_cores_is_believed_as_far_as_one_core_allows);
    tcase_add_test(spot, a_faster_machine_raises_what_is_kept_to_what_two_measurements_say);
    tcase_add_test(spot, one_fast_measurement_is_a_fluke);
    tcase_add_test(spot, rounds_keep_the_best_and_say_how_far_the_worst_was);
    tcase_add_test(spot, a_slow_machine_takes_scores_back_that_lean_on_ceilings);
    tcase_add_checked_fixture(file, open_file, close_file);
    tcase_add_test(file, a_calibration_reads_back_as_it_was);
    tcase_add_test(file, another_driver_makes_it_stale_and_another_device_foreign);
    tcase_add_test(file, what_is_no_calibration_is_never_believed);
    suite_add_tcase(suite, spot);
    suite_add_tcase(suite, file);
    return suite;
}
