/* The writers: texts for people and programs from one and the same record. */
#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/json/json.h"
#include "reports/formats/writers.h"
#include "report_sample.h"

Suite *reports_suite(void);

static char directory[64], path[96];

static void setup(void)
{
    strcpy(directory, "/tmp/unseen-reports-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
    fill_result();
}

static int count_files(void)
{
    DIR *open = opendir(directory);
    int count = -2; /* . and .. */

    ck_assert_ptr_nonnull(open);
    while (readdir(open) != NULL)
        count++;
    closedir(open);
    return count;
}

static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(count_files(), 0); /* no temporary file is ever left */
    rmdir(directory);
}

static char *file_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    ck_assert(getdelim(&text, &size, '\0', file) >= 0);
    fclose(file);
    return text;
}

static json_t *written_json(void)
{
    char error[512] = "";
    json_error_t where;
    json_t *json;

    ck_assert_msg(json_write(path, &result, error, sizeof error) == 0, "%s", error);
    json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    ck_assert_msg(json != NULL, "%s", where.text);
    return json;
}

static void expect_keys(const json_t *object, const char *keys)
{
    char copy[512], *rest = copy;

    snprintf(copy, sizeof copy, "%s", keys);
    for (char *key; (key = strsep(&rest, " ")) != NULL;)
        ck_assert_msg(json_object_get(object, key) != NULL, "no key %s", key);
}

static int write_csv(const char *path, char *error, size_t error_size)
{
    const struct result *const only = &result;
    return report_write(REPORT_CSV, path, &only, 1, error, error_size);
}

START_TEST(json_holds_every_key_of_schema_1)
{
    json_t *json = written_json();
    const json_t *config = json_array_get(json_object_get(json, "results"), 37);

    expect_keys(json, "schema tool problem candidate device seed commitment verdict seen unseen drop "
                      "retention rule minimal findings seconds results");
    expect_keys(json_object_get(json, "tool"), "version git");
    expect_keys(json_object_get(json, "candidate"), "path sha256 language build_seconds object_kept");
    expect_keys(json_object_get(json, "device"), "name driver peaks");
    expect_keys(json_object_get(json, "seen"),
                "configs pass wrong unwritten overrun modified unstable "
                "refused crash timeout skipped rate geomean_gbps geomean_fraction score");
    expect_keys(json_object_get(json, "drop"), "points low high");
    expect_keys(json_object_get(json, "retention"), "ratio low high");
    expect_keys(config, "set config why outcome worst time_ms oracle");
    expect_keys(json_object_get(config, "worst"), "tensor index got want allowed error");
    expect_keys(json_object_get(config, "time_ms"), "median low high samples method");
    json_decref(json);
}
END_TEST

START_TEST(json_reads_back_what_was_recorded)
{
    json_t *json = written_json();
    const char *outcome, *set, *line, *verdict;
    json_int_t seed, pass, index;
    double points, median;

    ck_assert_int_eq(json_unpack(json, "{s:I, s:s, s:{s:I}, s:{s:F}}", "seed", &seed, "verdict", &verdict,
                                 "unseen", "pass", &pass, "drop", "points", &points),
                     0);
    ck_assert_int_eq(seed, 9007199254740991);
    ck_assert_str_eq(verdict, "specialized");
    ck_assert_int_eq(pass, 33);
    ck_assert_double_eq(points, 8.3);
    ck_assert_int_eq(json_unpack(json_array_get(json_object_get(json, "results"), 37),
                                 "{s:s, s:s, s:s, s:{s:I}, s:{s:F}}", "set", &set, "config", &line, "outcome",
                                 &outcome, "worst", "index", &index, "time_ms", "median", &median),
                     0);
    ck_assert_str_eq(set, "unseen");
    ck_assert_str_eq(line, "rows=4 cols=4099 input=normal seed=91");
    ck_assert_str_eq(outcome, "wrong");
    ck_assert_int_eq(index, 16395);
    ck_assert_double_eq(median, 1.5);
    json_decref(json);
}
END_TEST

START_TEST(json_writes_numbers_that_are_not_finite_as_strings)
{
    json_t *json, *worst;

    results[37].worst.want = -INFINITY;
    results[37].worst.got = -NAN;
    json = written_json();
    worst = json_object_get(json_array_get(json_object_get(json, "results"), 37), "worst");
    ck_assert_str_eq(json_string_value(json_object_get(worst, "got")), "nan");
    ck_assert_str_eq(json_string_value(json_object_get(worst, "want")), "-inf");
    ck_assert_str_eq(json_string_value(json_object_get(worst, "error")), "inf");
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(json, "retention"), "high")), "inf");
    json_decref(json);
}
END_TEST

START_TEST(json_of_an_empty_untimed_partial_run_has_nulls_not_zeros)
{
    json_t *json, *seen;

    result = (struct result){.partial = true, .partial_reason = "interrupted"};
    json = written_json();
    seen = json_object_get(json, "seen");
    expect_keys(seen, "configs pass rate geomean_tflops geomean_fraction score");
    ck_assert(json_is_null(json_object_get(seen, "rate")));
    ck_assert(json_is_null(json_object_get(seen, "geomean_tflops")));
    ck_assert(json_is_null(json_object_get(json, "drop")));
    ck_assert(json_is_null(json_object_get(json, "rule")));
    ck_assert(json_is_null(json_object_get(json, "minimal")));
    ck_assert(json_is_true(json_object_get(json, "partial")));
    ck_assert_str_eq(json_string_value(json_object_get(json, "partial_reason")), "interrupted");
    json_decref(json);
}
END_TEST

START_TEST(json_survives_text_that_is_not_utf8)
{
    json_t *json, *found;

    strcpy(result.candidate_path, "caf\xe9.c");
    json = written_json();
    found = json_object_get(json_object_get(json, "candidate"), "path");
    ck_assert_str_eq(json_string_value(found), "caf?.c");
    json_decref(json);
}
END_TEST

/* A small file size limit fails in the middle of writing, as a full disk does. */
START_TEST(a_write_that_fails_midway_leaves_the_earlier_file_intact)
{
    struct rlimit before, small;
    char error[512] = "", *text;
    int json_status, csv_status;

    json_decref(written_json());
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){.rlim_cur = 1024, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    csv_status = write_csv(path, error, sizeof error);
    json_status = json_write(path, &result, error, sizeof error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(csv_status, -1);
    ck_assert_int_eq(json_status, -1);
    ck_assert_ptr_nonnull(strstr(error, path));
    ck_assert_ptr_nonnull(strstr(error, "File too large\n---> raise the limit"));
    text = file_text();
    ck_assert_ptr_nonnull(strstr(text, "\"schema\": 1"));
    ck_assert_str_eq(text + strlen(text) - 2, "}\n");
    free(text);
}
END_TEST

START_TEST(a_full_device_is_reported_and_never_replaced)
{
    struct stat status;
    char error[512] = "";

    ck_assert_int_eq(json_write("/dev/full", &result, error, sizeof error), -1);
    ck_assert_ptr_nonnull(strstr(error, "/dev/full: cannot write the report: No space left"));
    ck_assert_ptr_nonnull(strstr(error, "\n---> free some space"));
    ck_assert_int_eq(json_write("/dev/null", &result, error, sizeof error), 0);
    ck_assert_int_eq(stat("/dev/null", &status), 0);
    ck_assert(S_ISCHR(status.st_mode));
}
END_TEST

static void expect_refused(const char *target, const char *reason)
{
    char error[512] = "";

    ck_assert_int_eq(write_csv(target, error, sizeof error), -1);
    ck_assert_msg(strncmp(error, target, strlen(target)) == 0, "%s", error);
    ck_assert_msg(strstr(error, reason) != NULL && strstr(error, "\n---> ") != NULL, "%s", error);
}

START_TEST(a_path_that_cannot_be_written_is_named_with_the_reason)
{
    char target[160];

    snprintf(target, sizeof target, "%s/missing/out", directory);
    expect_refused(target, "No such file");
    expect_refused(directory, "Is a directory");
    expect_refused("", "No such file");
    json_decref(written_json());
    snprintf(target, sizeof target, "%s/out", path);
    expect_refused(target, "Not a directory");
}
END_TEST

START_TEST(an_unwritable_directory_is_refused_and_its_file_kept)
{
    const bool root = geteuid() == 0; /* root may write anywhere: become another user for a moment */
    char error[512] = "";
    int status;

    json_decref(written_json());
    ck_assert_int_eq(chmod(directory, 0555), 0);
    ck_assert(!root || seteuid(65534) == 0);
    status = json_write(path, &result, error, sizeof error);
    ck_assert(!root || seteuid(0) == 0);
    chmod(directory, 0755);
    ck_assert_int_eq(status, -1);
    ck_assert_ptr_nonnull(strstr(error, "Permission denied\n---> give a path in a directory"));
    json_decref(json_load_file(path, 0, NULL));
}
END_TEST

START_TEST(a_symbolic_link_stays_a_link)
{
    char link[160];
    struct stat status;
    char error[512] = "";

    json_decref(written_json());
    snprintf(link, sizeof link, "%s/link", directory);
    ck_assert_int_eq(symlink(path, link), 0);
    ck_assert_int_eq(write_csv(link, error, sizeof error), 0);
    ck_assert(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    ck_assert(lstat(path, &status) == 0 && S_ISREG(status.st_mode));
    unlink(link);
}
END_TEST

START_TEST(csv_has_a_header_and_one_line_per_configuration_with_equal_fields)
{
    char error[512] = "", *text, *rest, *line;
    int lines = 0, commas = -1;

    strcpy(results[37].detail, "no commas here"); /* so that commas count fields */
    for (int i = 0; i < 40; i++)
        results[i].timing.method = "clock";
    strcpy(results[39].detail, "too large");
    ck_assert_int_eq(write_csv(path, error, sizeof error), 0);
    text = rest = file_text();
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        int found = 0;

        for (const char *c = line; *c != '\0'; c++)
            found += *c == ',';
        ck_assert(commas < 0 || commas == found);
        commas = found;
        lines++;
    }
    ck_assert_int_eq(lines, 41);
    ck_assert_int_eq(strncmp(text, "set,config,why,outcome,", 23), 0);
    free(text);
}
END_TEST

START_TEST(csv_quotes_commas_quotes_and_line_breaks)
{
    char error[512] = "", *text;

    result.result_count = 1;
    strcpy(results[0].why, "a,b");
    strcpy(results[0].detail, "said \"no\"\nand left");
    ck_assert_int_eq(write_csv(path, error, sizeof error), 0);
    text = file_text();
    ck_assert_ptr_nonnull(strstr(text, ",\"a,b\",pass,\"said \"\"no\"\"\nand left\",fp32,"));
    ck_assert_ptr_nonnull(strstr(text, ",\"monotonic clock, cold cache\","));
    free(text);
}
END_TEST

Suite *reports_suite(void)
{
    Suite *suite = suite_create("reports");
    TCase *files = tcase_create("files");

    tcase_add_checked_fixture(files, setup, teardown);
    tcase_add_test(files, json_holds_every_key_of_schema_1);
    tcase_add_test(files, json_reads_back_what_was_recorded);
    tcase_add_test(files, json_writes_numbers_that_are_not_finite_as_strings);
    tcase_add_test(files, json_of_an_empty_untimed_partial_run_has_nulls_not_zeros);
    tcase_add_test(files, json_survives_text_that_is_not_utf8);
    tcase_add_test(files, a_write_that_fails_midway_leaves_the_earlier_file_intact);
    tcase_add_test(files, a_full_device_is_reported_and_never_replaced);
    tcase_add_test(files, a_path_that_cannot_be_written_is_named_with_the_reason);
    tcase_add_test(files, an_unwritable_directory_is_refused_and_its_file_kept);
    tcase_add_test(files, a_symbolic_link_stays_a_link);
    tcase_add_test(files, csv_has_a_header_and_one_line_per_configuration_with_equal_fields);
    tcase_add_test(files, csv_quotes_commas_quotes_and_line_breaks);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, temporaries_case());
    suite_add_tcase(suite, terminal_case());
    suite_add_tcase(suite, brief_case());
    suite_add_tcase(suite, json_read_case());
    suite_add_tcase(suite, schema_case());
    suite_add_tcase(suite, documents_sarif_case());
    suite_add_tcase(suite, documents_trace_case());
    suite_add_tcase(suite, documents_arena_case());
    suite_add_tcase(suite, documents_case());
    suite_add_tcase(suite, documents_map_case());
    return suite;
}
