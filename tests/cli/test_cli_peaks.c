/* Stored ceilings, as users meet them. */
#include "cli.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As TINY, with times. */
#define TIMED                                                                                                \
    "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--unseen", "2", "--no-explain"

static const json_t *peaks_of(const json_t *result)
{
    return json_object_get(json_object_get(result, "device"), "peaks");
}

static const char *calibrated(const json_t *result, const char *key)
{
    return json_string_value(json_object_get(json_object_get(peaks_of(result), "calibrated"), key));
}

/* The one file of this test's cache. */
static const char *kept_file(void)
{
    static char path[1024];
    glob_t found;
    ck_assert_int_eq(glob("cache/unseen/peaks-host-*.json", 0, NULL, &found), 0);
    ck_assert_int_eq(found.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static void own_cache(void)
{
    char path[1024];
    ck_assert(getcwd(path, sizeof path - 8) != NULL);
    strcat(path, "/cache");
    setenv("XDG_CACHE_HOME", path, 1);
}

static void multiply(const char *from, const char *to, double factor)
{
    json_t *const file = cli_json(from), *const figures = json_object_get(file, "figures");
    static const char *const name[] = {"copy_gbps", "copy_core_gbps", "fp32_tflops"};
    for (int i = 0; i < 3; i++) {
        json_t *const one = json_object_get(figures, name[i]);
        json_object_set_new(one, "value",
                            json_real(factor * json_number_value(json_object_get(one, "value"))));
    }
    ck_assert_int_eq(json_dump_file(file, to, 0), 0);
    json_decref(file);
}

/* A neighbour that leaves meanwhile may raise them. A note says so, and the figures are then greater. */
static void expect_same_figures(const json_t *first, const json_t *second)
{
    static const char *const name[] = {"bandwidth_gbps", "tflops", "launch_ms"};
    ck_assert_str_eq(calibrated(first, "date"), calibrated(second, "date"));
    for (int i = 0; i < 3 && !strstr(cli.out, "the calibration is raised"); i++)
        ck_assert_msg(
            json_equal(json_object_get(peaks_of(first), name[i]), json_object_get(peaks_of(second), name[i])),
            "%s differs", name[i]);
}

START_TEST(two_runs_use_the_same_ceilings_and_a_doctored_file_gives_no_score)
{
    own_cache();
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "-v", "softmax", "right.c", TIMED, "--json", "first.json");
    cli_expect(0, "the ceilings were measured now and kept in");
    CLI("verify", "-v", "softmax", "right.c", TIMED, "--json", "second.json");
    cli_expect(0, "calibrated 2");
    cli_expect_without("the ceilings were measured");
    json_t *first = cli_json("first.json"), *second = cli_json("second.json");
    ck_assert_ptr_nonnull(calibrated(first, "sha256"));
    ck_assert(json_is_true(json_object_get(peaks_of(first), "comparable")));
    expect_same_figures(first, second);
    json_decref(first);
    json_decref(second);

    multiply(kept_file(), "doctored.json", 3);
    CLI("verify", "softmax", "right.c", TIMED, "--peaks", "doctored.json", "--json", "r.json");
    cli_expect(0, "not comparable"); /* and the verdict is unchanged */
    json_t *result = cli_json("r.json");
    const json_t *const set = json_object_get(result, "unseen");
    const json_t *const score = json_object_get(
        json_object_get(json_object_get(json_object_get(result, "scores"), "unseen"), "score"), "state");
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "general");
    ck_assert(json_is_false(json_object_get(peaks_of(result), "comparable")));
    ck_assert(json_is_null(json_object_get(set, "score")));
    ck_assert(json_is_number(json_object_get(set, "geomean_fraction"))); /* times are measured in any case */
    ck_assert_str_eq(json_string_value(score), "not comparable");
    json_decref(result);
    CLI("report", "r.json");
    cli_expect(0, "not comparable");
}
END_TEST

/* Lower ceilings would make any kernel look better. They are raised again, and wrong values stay wrong. */
START_TEST(a_doctored_calibration_moves_no_verdict)
{
    own_cache();
    cli_put_kernel("wrong.c", "", "cols == 64 ? 0.5 : 0");
    CLI("calibrate", "--device", "host", "--peaks", "honest.json");
    cli_expect(0, "empty call");
    multiply("honest.json", "doctored.json", 0.01);
    CLI("verify", "-v", "softmax", "wrong.c", TIMED, "--peaks", "honest.json", "--seed", "1", "--json",
        "a.json");
    cli_expect(1, "");
    CLI("verify", "-v", "softmax", "wrong.c", TIMED, "--peaks", "doctored.json", "--seed", "1", "--json",
        "b.json");
    cli_expect(1, "the calibration is raised");
    json_t *const honest = cli_json("a.json"), *const doctored = cli_json("b.json");
    ck_assert(json_equal(json_object_get(honest, "verdict"), json_object_get(doctored, "verdict")));
    for (int i = 0; i < 2; i++) {
        const char *const set = i ? "unseen" : "seen";
        ck_assert_int_eq(cli_count(honest, set, "pass"), cli_count(doctored, set, "pass"));
        ck_assert_int_eq(cli_count(honest, set, "wrong"), cli_count(doctored, set, "wrong"));
    }
    json_decref(honest);
    json_decref(doctored);
}
END_TEST

static void expect_text(const char *path, const char *text)
{
    char have[64] = "";
    FILE *const in = fopen(path, "re");
    ck_assert(in && fgets(have, sizeof have, in));
    fclose(in);
    ck_assert_str_eq(have, text);
}

START_TEST(a_file_that_is_another_s_stays_as_it_is)
{
    own_cache();
    cli_put_kernel("right.c", "", "0");
    cli_put("mine", "a letter\n");
    CLI("check", "softmax", "right.c", "rows=3 cols=5 seed=1", "--device", "host", "--timing", "--peaks",
        "mine");
    cli_expect(0, "measured for this run only: mine: it is no calibration");
    expect_text("mine", "a letter\n");
    CLI("calibrate", "--device", "host", "--peaks", "mine");
    cli_expect_error(2, "the calibration is not kept: mine: it is no calibration",
                     "expected what unseen calibrate", "give another file as --peaks");
    ck_assert_msg(strstr(cli.out, "empty call") != NULL, "%s", cli.out);
    expect_text("mine", "a letter\n");
}
END_TEST

TCase *cli_peaks_case(void)
{
    TCase *tcase = tcase_create("peaks");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, two_runs_use_the_same_ceilings_and_a_doctored_file_gives_no_score);
    tcase_add_test(tcase, a_doctored_calibration_moves_no_verdict);
    tcase_add_test(tcase, a_file_that_is_another_s_stays_as_it_is);
    return tcase;
}
