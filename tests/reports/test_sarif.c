/* The SARIF log, read as JSON: rules, places and commands. tests/python/read_sarif.py holds it to the
 * standard's model. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/sarif.h"
#include "report_sample.h"

static json_t *read_log(int count)
{
    const struct result *const all[] = {&result, &result};
    char *text = NULL;
    size_t size;
    json_error_t error;
    FILE *const out = open_memstream(&text, &size);
    sarif_print(out, all, count);
    fclose(out);
    json_t *const log = json_loads(text, 0, &error);
    ck_assert_msg(log != NULL, "line %d: %s\n%s", error.line, error.text, text);
    free(text);
    return log;
}

static void setup(void)
{
    fill_full_result();
    result.published_tolerance = false;
}

static const char *text_at(json_t *object, const char *a, const char *b)
{
    return json_string_value(json_object_get(json_object_get(object, a), b));
}

static json_t *run_at(json_t *log, size_t i)
{
    return json_array_get(json_object_get(log, "runs"), i);
}

static int rejected(void)
{
    int count = 0;
    for (int i = 0; i < result.result_count; i++)
        count += outcome_is_rejected(result.results[i].outcome);
    return count;
}

START_TEST(sarif_has_a_result_for_each_failure_and_finding)
{
    json_t *const log = read_log(2), *entry;
    size_t i;
    ck_assert_str_eq(json_string_value(json_object_get(log, "version")), "2.1.0");
    ck_assert_uint_eq(json_array_size(json_object_get(log, "runs")), 2);
    json_t *const results = json_object_get(run_at(log, 1), "results");
    json_t *const driver = json_object_get(json_object_get(run_at(log, 1), "tool"), "driver");
    json_t *const rules = json_object_get(driver, "rules");
    ck_assert_int_gt(rejected(), 0);
    ck_assert_uint_eq(json_array_size(results), (size_t)(rejected() + result.finding_count));
    json_array_foreach(results, i, entry)
    {
        json_t *const rule =
            json_array_get(rules, (size_t)json_integer_value(json_object_get(entry, "ruleIndex")));
        ck_assert_str_eq(json_string_value(json_object_get(entry, "ruleId")),
                         json_string_value(json_object_get(rule, "id")));
        ck_assert_ptr_nonnull(text_at(entry, "message", "text"));
        if (i < (size_t)rejected())
            ck_assert_ptr_nonnull(strstr(text_at(entry, "message", "text"), "unseen check"));
    }
    json_decref(log);
}
END_TEST

/* Every outcome that can be rejected has a rule. */
START_TEST(sarif_knows_every_rejected_outcome)
{
    for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        if (!outcome_is_rejected(outcome))
            continue;
        results[0].outcome = outcome;
        json_t *const log = read_log(1);
        json_t *const first = json_array_get(json_object_get(run_at(log, 0), "results"), 0);
        ck_assert_str_eq(json_string_value(json_object_get(first, "ruleId")), outcome_name(outcome));
        ck_assert_int_lt(json_integer_value(json_object_get(first, "ruleIndex")),
                         (json_int_t)json_array_size(json_object_get(
                             json_object_get(json_object_get(run_at(log, 0), "tool"), "driver"), "rules")) -
                             1);
        json_decref(log);
    }
}
END_TEST

static const char *first_uri(json_t *log)
{
    json_t *const artifact = json_array_get(json_object_get(run_at(log, 0), "artifacts"), 0);
    return text_at(artifact, "location", "uri");
}

START_TEST(sarif_s_places_are_uris_whatever_the_path)
{
    static const struct {
        const char *path, *uri;
    } paths[] = {{"a b/k#1%.cu", "a%20b/k%231%25.cu"},
                 {"/tmp/k.cu", "file:///tmp/k.cu"},
                 {"\xc3\xa4?.c", "%C3%A4%3F.c"},
                 {"\xff.c", "%FF.c"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(result.candidate_path, sizeof result.candidate_path, "%s", paths[i].path);
        json_t *const log = read_log(1);
        ck_assert_str_eq(first_uri(log), paths[i].uri);
        json_decref(log);
    }
}
END_TEST

START_TEST(sarif_takes_words_of_any_bytes)
{
    for (int i = 0; i < result.result_count; i++)
        snprintf(result.results[i].detail, sizeof result.results[i].detail, "\xff\x01 \"quoted\" \xc3");
    json_decref(read_log(1));
}
END_TEST

TCase *documents_sarif_case(void)
{
    TCase *tests = tcase_create("sarif");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, sarif_has_a_result_for_each_failure_and_finding);
    tcase_add_test(tests, sarif_knows_every_rejected_outcome);
    tcase_add_test(tests, sarif_s_places_are_uris_whatever_the_path);
    tcase_add_test(tests, sarif_takes_words_of_any_bytes);
    return tests;
}
