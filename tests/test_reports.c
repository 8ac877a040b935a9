/* The writers: what people and programs read from one and the same record. */
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

#include "../reports/csv.h"
#include "../reports/json.h"
#include "../reports/published.h"
#include "../reports/terminal.h"
#include "../reports/text.h"

Suite *reports_suite(void);

static char directory[64], path[96];
static struct config_result results[40];
static struct result result;

static void fill_timing(struct timing *timing, double fraction)
{
    *timing = (struct timing){
        .present = true, .median_ms = 1.5, .low_ms = 1.25, .high_ms = 1.75, .min_ms = 1, .p95_ms = 2,
        .samples = 12, .method = "monotonic clock, cold cache", .attainable_ms = 1.5 * fraction,
        .bound = "memory", .fraction = fraction,
    };
}

static void fill_wrong(struct config_result *config)
{
    config->outcome = OUTCOME_WRONG;
    strcpy(config->config, "rows=4 cols=4099 input=normal seed=91");
    strcpy(config->why, "neighbour of seen 1: cols+3");
    strcpy(config->detail, "14 of 16396 elements wrong, the first at y[0,4096]");
    config->worst = (struct worst){
        .present = true, .tensor = "y", .index = 16395, .at = { 3, 4098 }, .rank = 2,
        .got = NAN, .want = 0.25, .allowed = 1e-7, .error = INFINITY, .witnessed = true,
    };
}

/* Four seen that pass; unseen: 33 pass, one wrong, one crash, one skipped. */
static void fill_result(void)
{
    result = (struct result){
        .version = "0.1.0", .git = "abc1234", .problem = "softmax", .memory_bound = true,
        .candidate_path = "bad/tile4096.c", .language = "c", .build_seconds = 0.4,
        .device = "AMD EPYC 9654, 2 cores", .seed = 9007199254740991, .effort = "standard",
        .admitted = "fp32", .fits = "wrong", .verdict = VERDICT_SPECIALIZED, .seconds = 12.5,
        .peaks = { .bandwidth_gbps = 25, .tflops = 0.2, .source = "measured", .launch_ms = 1e-4 },
        .notes = "caps: 256 MB and 4e8 flops for one configuration\nno axis is cut",
        .sandbox = "own process, guarded memory", .results = results, .result_count = 40,
        .planned = 40, .planned_seen = 4,
    };
    memset(result.candidate_sha256, 'a', 64);
    memset(result.commitment, 'c', 64);
    for (int i = 0; i < 40; i++) {
        results[i] = (struct config_result){ .unseen = i >= 4, .fits = "fp32", .flops = 5e6, .bytes = 8e6 };
        snprintf(results[i].config, sizeof results[i].config, "rows=%d cols=4096 input=normal seed=7", i);
        strcpy(results[i].why, i < 4 ? "published" : "random");
        fill_timing(&results[i].timing, i < 4 ? 0.5 : 0.25);
    }
    fill_wrong(&results[37]);
    results[38].outcome = OUTCOME_CRASH;
    strcpy(results[38].detail, "killed by signal 11 (segmentation fault)");
    results[39].outcome = OUTCOME_SKIPPED;
    strcpy(results[39].detail, "needs 12 GB, the machine has 4 GB");
    result.seen = (struct set_score){ .configs = 4, .outcome = { [OUTCOME_PASS] = 4 }, .rate = 1,
        .timed = true, .geomean_rate = 5.33, .geomean_fraction = 0.5, .fraction_low = 0.5,
        .fraction_high = 0.5, .score = 0.5 };
    result.unseen = (struct set_score){ .configs = 36, .rate = 33.0 / 36, .timed = true,
        .outcome = { [OUTCOME_PASS] = 33, [OUTCOME_WRONG] = 1, [OUTCOME_CRASH] = 1, [OUTCOME_SKIPPED] = 1 },
        .geomean_rate = 5.33, .geomean_fraction = 0.25, .fraction_low = 0.2, .fraction_high = 0.3,
        .score = 0.229 };
    result.drop = (struct interval){ true, 8.3, -40.5, 21.8 };
    result.retention = (struct interval){ true, 0.5, 0, INFINITY };
}

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

START_TEST(json_holds_every_key_of_schema_1)
{
    json_t *json = written_json();
    const json_t *config = json_array_get(json_object_get(json, "results"), 37);

    expect_keys(json, "schema tool problem candidate device seed commitment verdict seen unseen drop "
                      "retention rule minimal findings seconds results");
    expect_keys(json_object_get(json, "tool"), "version git");
    expect_keys(json_object_get(json, "candidate"), "path sha256 language build_seconds");
    expect_keys(json_object_get(json, "device"), "name driver peaks");
    expect_keys(json_object_get(json, "seen"), "configs pass wrong unwritten overrun modified unstable "
                "refused crash timeout skipped rate geomean_gbps geomean_fraction score");
    expect_keys(json_object_get(json, "drop"), "points low high");
    expect_keys(json_object_get(json, "retention"), "ratio low high");
    expect_keys(config, "set config why outcome worst time_ms");
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
                                 "unseen", "pass", &pass, "drop", "points", &points), 0);
    ck_assert_int_eq(seed, 9007199254740991);
    ck_assert_str_eq(verdict, "specialized");
    ck_assert_int_eq(pass, 33);
    ck_assert_double_eq(points, 8.3);
    ck_assert_int_eq(json_unpack(json_array_get(json_object_get(json, "results"), 37),
                                 "{s:s, s:s, s:s, s:{s:I}, s:{s:F}}", "set", &set, "config", &line,
                                 "outcome", &outcome, "worst", "index", &index, "time_ms", "median",
                                 &median), 0);
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

    result = (struct result){ .partial = true, .partial_reason = "interrupted" };
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
    small = (struct rlimit){ .rlim_cur = 1024, .rlim_max = before.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    csv_status = csv_write(path, &result, error, sizeof error);
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

    ck_assert_int_eq(csv_write(target, &result, error, sizeof error), -1);
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
    const bool root = geteuid() == 0; /* root may write anywhere: become somebody for a moment */
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
    ck_assert_int_eq(csv_write(link, &result, error, sizeof error), 0);
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
    ck_assert_int_eq(csv_write(path, &result, error, sizeof error), 0);
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
    ck_assert_int_eq(csv_write(path, &result, error, sizeof error), 0);
    text = file_text();
    ck_assert_ptr_nonnull(strstr(text, ",\"a,b\",pass,\"said \"\"no\"\"\nand left\",fp32,"));
    ck_assert_ptr_nonnull(strstr(text, ",\"monotonic clock, cold cache\","));
    free(text);
}
END_TEST

static char *report_text(bool colour, bool phases, const char *suffix)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_header(out, &result, colour);
    for (int i = 0; i < result.result_count; i++)
        terminal_config(out, &results[i], colour);
    terminal_report(out, &result, colour, phases, suffix);
    fclose(out);
    return text;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in\n%.3000s", expected, text);
}

START_TEST(report_says_the_verdict_the_counts_and_how_to_see_a_failure_again)
{
    char *text = report_text(false, true, "--device host");

    expect_text(text, "specialized: it passes 4 of 4 configurations that its author was given, but fails");
    expect_text(text, "unseen check softmax bad/tile4096.c 'rows=4 cols=4099 input=normal seed=91' "
                      "--device host\n");
    expect_text(text, "y[3,4098] got nan want 0.25 allowed 1e-07 (MPFR witness)");
    expect_text(text, "wrong: 1 configuration\n");
    expect_text(text, "killed by signal 11");
    expect_text(text, "1: needs 12 GB, the machine has 4 GB");
    expect_text(text, "0.5 of the seen throughput");
    expect_text(text, "4 seen and 36 unseen configurations");
    expect_text(text, "witnessing");
    expect_text(text, "no class explains the candidate's errors; the problem admits fp32");
    free(text);
}
END_TEST

START_TEST(report_is_plain_ascii_without_colour_whatever_the_candidate_says)
{
    char *text;

    strcpy(results[38].detail, "said \033[31mred\033[0m caf\xc3\xa9\a");
    strcpy(result.candidate_path, "my caf\xc3\xa9/it's.c");
    text = report_text(false, true, NULL);
    for (const char *c = text; *c != '\0'; c++)
        ck_assert_msg(*c == '\n' || (*c >= ' ' && *c <= '~'), "byte %d", *c);
    expect_text(text, "unseen check softmax $'my caf\\303\\251/it\\'s.c' 'rows=4");
    free(text);
    text = report_text(true, true, NULL);
    expect_text(text, "\033[1;31mspecialized\033[0m");
    free(text);
}
END_TEST

START_TEST(report_keeps_to_its_width_but_for_what_is_copied)
{
    char *text, *rest, *line;

    result.result_count = 0; /* no configuration lines */
    result.finding = &(struct finding){ .kind = "below floor" };
    result.finding_count = 1;
    memset(result.finding->evidence, 'x', 319);
    for (int i = 9; i < 319; i += 10)
        result.finding->evidence[i] = ' ';
    text = rest = report_text(false, true, NULL);
    while ((line = strsep(&rest, "\n")) != NULL)
        ck_assert_msg(strlen(line) <= TEXT_WIDTH, "%s", line);
    free(text);
}
END_TEST

START_TEST(report_shows_at_most_six_failures_and_one_of_every_outcome_first)
{
    int shown = 0;
    char *text;

    for (int i = 4; i < 36; i++)
        results[i].outcome = OUTCOME_UNWRITTEN;
    text = report_text(false, false, NULL);
    for (const char *c = text; (c = strstr(c, "unseen check ")) != NULL; c++)
        shown++;
    ck_assert_int_eq(shown, 6);
    expect_text(text, "unwritten: 32 configurations (4 shown)");
    expect_text(text, "crash: 1 configuration\n");
    free(text);
}
END_TEST

START_TEST(report_names_a_silent_downgrade)
{
    char *text;

    result.fits = "tensor-core 16-bit";
    result.downgrade = true;
    text = report_text(false, false, NULL);
    expect_text(text, "SILENT DOWNGRADE: the candidate computes like tensor-core 16-bit");
    free(text);
}
END_TEST

START_TEST(report_prints_the_published_check_beside_ours)
{
    char *text;

    for (int i = 0; i < 40; i++)
        results[i].published_judged = results[i].published_pass = true;
    result.published_judged = true;
    result.published_verdict = VERDICT_GENERAL;
    text = report_text(false, false, NULL);
    expect_text(text, "published   general");
    expect_text(text, "passes 1 of the 2");
    expect_text(text, "specialized: it passes");
    free(text);
    result.published_tolerance = true;
    ck_assert_int_eq(result_verdict(&result), VERDICT_GENERAL);
    text = report_text(false, false, NULL);
    expect_text(text, "general: it works");
    expect_text(text, "our check   specialized");
    free(text);
    result.verdict = VERDICT_CHEATING;
    ck_assert_int_eq(result_verdict(&result), VERDICT_CHEATING);
}
END_TEST

START_TEST(an_element_shows_the_difference_even_in_the_last_digit)
{
    const struct worst worst = { .tensor = "y", .index = 7, .got = 0.1, .want = nextafter(0.1, 1) };
    char text[256];

    text_element(text, sizeof text, &worst);
    ck_assert_str_eq(text, "y[7] got 0.10000000000000001 want 0.10000000000000002 allowed 0");
}
END_TEST

START_TEST(progress_rewrites_one_line_and_clears_it)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_progress(out, 12, 52, 1, 40);
    terminal_progress(out, 13, 52, 1, -1);
    terminal_progress_clear(out);
    fclose(out);
    ck_assert_int_eq(strncmp(text, "\r12/52 configurations, 1 failure, about 40 s left ", 50), 0);
    expect_text(text, "\r13/52 configurations, 1 failure  ");
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_int_eq(text[size - 1], '\r');
    free(text);
}
END_TEST

Suite *reports_suite(void)
{
    Suite *suite = suite_create("reports");
    TCase *files = tcase_create("files"), *terminal = tcase_create("terminal");

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
    tcase_add_checked_fixture(terminal, fill_result, NULL);
    tcase_add_test(terminal, report_says_the_verdict_the_counts_and_how_to_see_a_failure_again);
    tcase_add_test(terminal, report_is_plain_ascii_without_colour_whatever_the_candidate_says);
    tcase_add_test(terminal, report_keeps_to_its_width_but_for_what_is_copied);
    tcase_add_test(terminal, report_shows_at_most_six_failures_and_one_of_every_outcome_first);
    tcase_add_test(terminal, report_names_a_silent_downgrade);
    tcase_add_test(terminal, report_prints_the_published_check_beside_ours);
    tcase_add_test(terminal, an_element_shows_the_difference_even_in_the_last_digit);
    tcase_add_test(terminal, progress_rewrites_one_line_and_clears_it);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, terminal);
    return suite;
}
