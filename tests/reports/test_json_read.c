/* Written results are read back: every field, and faulty files. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/json/json.h"
#include "reports/json/json_read.h"
#include "reports/terminal/terminal.h"
#include "report_sample.h"

static char path[] = "/tmp/unseen-stored-XXXXXX", error[1024];
static struct stored_result stored;

static void setup(void)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    close(mkstemp(path));
    fill_full_result();
    error[0] = '\0';
}

static void teardown(void)
{
    unlink(path);
}

static void put(const char *text)
{
    FILE *out = fopen(path, "w");

    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

/* Written, read, written: the second text; `first` gets the other. */
static char *again(char **first)
{
    char *second;

    *first = json_dump(&result);
    put(*first);
    ck_assert_msg(json_read(path, &stored, error, sizeof error) == JSON_READ_OK, "%s", error);
    second = json_dump(&stored.result);
    return second;
}

START_TEST(what_is_written_and_read_is_written_as_the_same_bytes)
{
    char *first, *second = again(&first);

    ck_assert_str_eq(first, second);
    ck_assert_str_eq(problem_choice(stored.problem, 2, stored.result.results[1].config.value[2]), "wide");
    ck_assert_int_eq(stored.result.results[1].config.value[1], 8192);
    free(first);
    free(second);
    json_read_free(&stored);
}
END_TEST

START_TEST(so_is_a_run_without_a_rule)
{
    char *first, *second;

    result.diagnosis.rule = (struct rule){.reason = "no rule fits", .closest = "rows > 7"};
    second = again(&first);
    ck_assert_str_eq(first, second);
    ck_assert_str_eq(stored.result.diagnosis.rule.closest, "rows > 7");
    free(first);
    free(second);
    json_read_free(&stored);
}
END_TEST

START_TEST(so_is_a_run_that_never_started)
{
    char *first, *second;

    result =
        (struct result){.verdict = VERDICT_INCONCLUSIVE, .partial = true, .partial_reason = "not started"};
    second = again(&first);
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
    json_read_free(&stored);
}
END_TEST

static char *terminal_text(const struct result *of)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (int verbose = 0; verbose < 2; verbose++) {
        terminal_header(out, of, false, verbose);
        terminal_report(out, of, false, verbose);
    }
    fclose(out);
    return text;
}

START_TEST(the_terminal_report_of_a_stored_result_is_the_one_of_the_run)
{
    char *first, *second = again(&first), *now = terminal_text(&result),
                 *then = terminal_text(&stored.result);

    ck_assert_str_eq(now, then);
    free(first);
    free(second);
    free(now);
    free(then);
    json_read_free(&stored);
}
END_TEST

/* Replaces one value of the sample's document, by its path; NULL removes it. */
static json_t *document(void)
{
    char *text = json_dump(&result);
    json_t *json = json_loads(text, 0, NULL);

    free(text);
    return json;
}

static void read_document(json_t *json)
{
    char *text = json_dumps(json, 0);

    put(text);
    free(text);
    json_decref(json);
}

static void expect_refused(const char *found, const char *expected, const char *hint)
{
    error[0] = '\0';
    ck_assert_int_eq(json_read(path, &stored, error, sizeof error), JSON_READ_INPUT);
    ck_assert_ptr_null(stored.document);
    ck_assert_msg(strncmp(error, path, strlen(path)) == 0, "%s", error);
    ck_assert_msg(strstr(error, found) != NULL, "no \"%s\" in %s", found, error);
    ck_assert_msg(strstr(error, expected) != NULL, "no \"%s\" in %s", expected, error);
    ck_assert_msg(strstr(strstr(error, "\n---> "), hint) != NULL, "no \"%s\" in %s", hint, error);
}

START_TEST(a_file_of_an_older_version_has_its_newer_values_missing)
{
    static const char *const newer[] = {"problem_word", "check_options", "axes",          "tolerance",
                                        "unexplained",  "planned_seen",  "untimed",       "no_sandbox",
                                        "forbid_blind", "company",       "planned_scouts"};
    json_t *json = document(), *config;
    size_t i;

    for (size_t k = 0; k < sizeof newer / sizeof *newer; k++)
        ck_assert_int_eq(json_object_del(json, newer[k]), 0);
    json_object_del(json_object_get(json, "diagnosis"), "minimal");
    json_array_foreach(json_object_get(json, "results"), i, config)
    {
        json_object_del(config, "values");
        json_object_del(config, "reason");
        json_object_del(config, "oracle");
        json_object_del(config, "scout");
    }
    json_object_set_new(json, "from_the_future", json_pack("{s:[i]}", "a", 1));
    read_document(json);
    ck_assert_msg(json_read(path, &stored, error, sizeof error) == JSON_READ_OK, "%s", error);
    ck_assert_ptr_null(stored.problem);
    ck_assert_ptr_null(stored.result.results[0].config.problem);
    ck_assert_int_eq(stored.result.results[38].reason.tensor, -1);
    ck_assert(!stored.result.results[0].oracle_quality.present);
    ck_assert(stored.result.published_tolerance); /* `published` names the deciding check */
    ck_assert_str_eq(stored.result.diagnosis.minimal.line, "rows=1 cols=1 input=normal seed=1");
    ck_assert_int_eq(stored.result.diagnosis.minimal.outcome, OUTCOME_WRONG);
    json_read_free(&stored);
}
END_TEST

START_TEST(another_schema_names_the_version_that_is_needed)
{
    json_t *json = document();

    json_object_set_new(json, "schema", json_integer(2));
    json_object_set_new(json_object_get(json, "tool"), "version", json_string("0.9.1"));
    read_document(json);
    expect_refused("schema 2", "expected schema 1", "wrote it 0.9.1");
}
END_TEST

START_TEST(a_file_that_is_cut_off_anywhere_is_refused)
{
    char *text = json_dump(&result);

    for (size_t length = strlen(text) - 1; length > 0; length -= length > 997 ? 997 : length) {
        text[length] = '\0';
        put(text);
        expect_refused("it ends in the middle", "expected the JSON result of `unseen verify`", "cut off");
    }
    free(text);
    put("");
    expect_refused("it is empty", "expected the JSON result", "unseen verify --json");
}
END_TEST

START_TEST(what_is_not_json_or_not_ours_is_refused)
{
    put("set,config,why\nseen,rows=1,x\n");
    expect_refused(":1: not JSON", "expected the JSON result", "--json FILE");
    put("[1, 2]");
    expect_refused("JSON without `schema`", "expected the JSON result", "--json FILE");
    put("{\"name\": \"package\"}");
    expect_refused("JSON without `schema`", "expected the JSON result", "--json FILE");
    put("{\"schema\": 1, \"tool\": {}, \"nulls\": []}"); /* of audit */
    expect_refused("JSON without `verdict`", "expected the JSON result", "--json FILE");
    ck_assert_int_eq(json_read("/tmp", &stored, error, sizeof error), JSON_READ_INPUT);
    ck_assert_ptr_nonnull(strstr(error, "/tmp: cannot read the result: Is a directory\n---> "));
    ck_assert_int_eq(json_read("/no/such", &stored, error, sizeof error), JSON_READ_INPUT);
    ck_assert_ptr_nonnull(strstr(error, "No such file or directory\n---> "));
}
END_TEST

START_TEST(a_value_of_another_kind_is_named_with_its_place)
{
    json_t *json = document();
    json_t *const config = json_array_get(json_object_get(json, "results"), 3);

    json_object_set_new(config, "outcome", json_string("excellent"));
    read_document(json_incref(json));
    expect_refused("results[3].outcome is \"excellent\"", "expected one of pass, wrong", "write it again");
    json_object_set_new(config, "outcome", json_string("pass"));
    json_object_set_new(config, "flops", json_string("\033[31mmany"));
    read_document(json_incref(json));
    expect_refused("results[3].flops is a text", "expected a number", "write it again");
    json_object_set_new(config, "flops", json_integer(1));
    json_object_set_new(config, "values", json_pack("[i, i, s]", 1, 2, "neither"));
    read_document(json_incref(json));
    expect_refused("results[3].values is \"neither\"", "expected a choice of its axis", "write it again");
    json_object_set_new(config, "values", json_null());
    json_object_set_new(json, "verdict", json_string("splendid"));
    read_document(json_incref(json));
    expect_refused("verdict is \"splendid\"", "expected one of general, limited", "write it again");
    json_object_set_new(json, "verdict", json_string("general"));
    json_object_set_new(json_object_get(json, "seen"), "pass", json_real(0.5));
    read_document(json);
    expect_refused("pass is a number with a fraction", "expected a whole number from 0", "write it again");
}
END_TEST

START_TEST(a_text_that_is_too_long_is_no_line_of_ours)
{
    char *longer = malloc(5000);
    json_t *json = document();

    memset(longer, 'x', 4999);
    longer[4999] = '\0';
    json_object_set_new(json_array_get(json_object_get(json, "results"), 0), "config", json_string(longer));
    read_document(json);
    expect_refused("results[0].config is a text", "at most 1023 bytes", "write it again");
    free(longer);
}
END_TEST

TCase *json_read_case(void)
{
    TCase *tcase = tcase_create("stored");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_is_written_and_read_is_written_as_the_same_bytes);
    tcase_add_test(tcase, so_is_a_run_without_a_rule);
    tcase_add_test(tcase, so_is_a_run_that_never_started);
    tcase_add_test(tcase, the_terminal_report_of_a_stored_result_is_the_one_of_the_run);
    tcase_add_test(tcase, a_file_of_an_older_version_has_its_newer_values_missing);
    tcase_add_test(tcase, another_schema_names_the_version_that_is_needed);
    tcase_add_test(tcase, a_file_that_is_cut_off_anywhere_is_refused);
    tcase_add_test(tcase, what_is_not_json_or_not_ours_is_refused);
    tcase_add_test(tcase, a_value_of_another_kind_is_named_with_its_place);
    tcase_add_test(tcase, a_text_that_is_too_long_is_no_line_of_ours);
    return tcase;
}
