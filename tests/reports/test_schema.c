/* The published JSON Schema accepts every written result, and rejects broken ones. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json/json.h"
#include "reports/json/json_fields.h"
#include "report_sample.h"
#include "schema.h"

static json_t *schema;
static char error[512];

static void setup(void)
{
    json_error_t where;
    schema = json_load_file("doc/schema/result-1.schema.json", JSON_REJECT_DUPLICATES, &where);
    ck_assert_msg(schema != NULL, "line %d: %s", where.line, where.text);
    fill_full_result();
}

static void teardown(void)
{
    json_decref(schema);
}

static json_t *document(void)
{
    char *text = json_dump(&result);
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    return json;
}

static void expect_allowed(void)
{
    json_t *json = document();
    ck_assert_msg(schema_allows(schema, json, error, sizeof error), "%s", error);
    json_decref(json);
}

START_TEST(the_schema_allows_what_is_written)
{
    expect_allowed();
    fill_result();
    expect_allowed();
    result.memory_bound = false;
    result.seen.timed = result.unseen.timed = false;
    expect_allowed();
    result = (struct result){.verdict = VERDICT_INCONCLUSIVE, .partial = true};
    expect_allowed();
}
END_TEST

/* A row whose type does not fit its member would read and write beside it. */
static void expect_members_of_their_types(const struct record *record)
{
    static const size_t size[] = {[FIELD_BOOL] = sizeof(bool),
                                  [FIELD_NOT] = sizeof(bool),
                                  [FIELD_EITHER] = sizeof(bool),
                                  [FIELD_COUNT] = sizeof(int),
                                  [FIELD_NAME] = sizeof(int),
                                  [FIELD_WHOLE] = sizeof(int64_t),
                                  [FIELD_SEED] = sizeof(uint64_t),
                                  [FIELD_NUMBER] = sizeof(double),
                                  [FIELD_POSITIVE] = sizeof(double),
                                  [FIELD_STRING] = sizeof(char *),
                                  [FIELD_OWN] = 0};
    for (const struct field *field = record->fields; !field_is_end(field); field++) {
        const char *const key = field->key != NULL ? field->key : "a row without a key";
        if (size[field->type] > 0)
            ck_assert_msg(field->size == size[field->type], "%s: %zu bytes", key, field->size);
        if (field->type == FIELD_RECORD && field->record->size > 0 && field->size > 0)
            ck_assert_msg(field->size == field->record->size, "%s: %zu bytes", key, field->size);
        if (field->type == FIELD_LIST && field->most > 0)
            ck_assert_msg(field->size == field->most * field->record->size, "%s: %zu bytes", key,
                          field->size);
        if (field->type == FIELD_EACH)
            ck_assert_msg(field->size == (size_t)field->names->count *
                                             (field->record != NULL ? field->record->size : sizeof(int)),
                          "%s: %zu bytes", key, field->size);
        if (field->record != NULL)
            expect_members_of_their_types(field->record);
    }
}

START_TEST(every_row_has_a_member_of_its_type)
{
    expect_members_of_their_types(&result_record);
    expect_members_of_their_types(&shrunk_record);
}
END_TEST

/* doc/schema/result-1.schema.json is what the tables describe, to the byte. */
START_TEST(the_schema_is_made_from_the_tables)
{
    static const char made[] = "build/result-1.schema.json";
    char *text = schema_write(), *file = NULL;
    size_t length = strlen(text) + 2;
    FILE *in = fopen("doc/schema/result-1.schema.json", "r");

    file = calloc(1, length);
    length = fread(file, 1, length - 1, in);
    fclose(in);
    const bool same = strcmp(file, text) == 0;
    FILE *out = same ? NULL : fopen(made, "w");
    if (out != NULL) {
        fputs(text, out);
        fclose(out);
    }
    ck_assert_msg(same, "the schema is not what the tables describe\n---> cp %s doc/schema/", made);
    free(text);
    free(file);
}
END_TEST

/* For objects of the full sample: every key must be in the schema, and required. */
static void expect_described(const json_t *properties, const json_t *required, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool listed = false;
        for (size_t i = 0; i < json_array_size(required); i++)
            listed = listed || strcmp(json_string_value(json_array_get(required, i)), key) == 0;
        ck_assert_msg(json_object_get(properties, key) && listed, "the schema does not require %s", key);
    }
}

START_TEST(the_schema_names_every_key)
{
    json_t *json = document();
    const json_t *const configuration = json_object_get(json_object_get(schema, "$defs"), "configuration");
    expect_described(json_object_get(schema, "properties"), json_object_get(schema, "required"), json);
    expect_described(json_object_get(configuration, "properties"), json_object_get(configuration, "required"),
                     json_array_get(json_object_get(json, "results"), 0));
    json_decref(json);
}
END_TEST

/* Puts `value` at `path`; NULL removes it. */
static void expect_refused(const char *first, const char *second, json_t *value, const char *words)
{
    json_t *json = document(), *object = second ? json_object_get(json, first) : json;
    const char *const key = second ? second : first;
    if (json_is_array(object))
        object = json_array_get(object, 0);
    ck_assert_int_eq(value ? json_object_set_new(object, key, value) : json_object_del(object, key), 0);
    error[0] = '\0';
    ck_assert_msg(!schema_allows(schema, json, error, sizeof error), "%s %s", first, second ? second : "");
    ck_assert_msg(strstr(error, words) != NULL, "no \"%s\" in %s", words, error);
    json_decref(json);
}

START_TEST(the_schema_refuses_a_broken_document)
{
    expect_refused("schema", NULL, json_integer(2), "schema: const");
    expect_refused("verdict", NULL, json_string("fine"), "verdict: enum");
    expect_refused("results", NULL, NULL, "the document: required");
    expect_refused("results", NULL, json_object(), "results: type");
    expect_refused("results", "outcome", json_string("excellent"), "results[0].outcome: enum");
    expect_refused("results", "flops", json_string("many"), "results[0].flops: ");
    expect_refused("results", "time_ms", json_integer(3), "results[0].time_ms: type");
    expect_refused("results", "reason", NULL, "results[0]: required");
    expect_refused("seen", "pass", json_integer(-1), "seen.pass: minimum");
    expect_refused("seen", "geomean_gbps", NULL, "seen: required");
    expect_refused("candidate", "path", json_true(), "candidate.path: type");
    expect_refused("drop", "low", json_string("few"), "drop");
}
END_TEST

START_TEST(a_keyword_that_is_not_checked_is_refused)
{
    json_t *other = json_pack("{s:s}", "pattern", "^a"), *text = json_string("b");
    ck_assert(!schema_allows(other, text, error, sizeof error));
    json_decref(other);
    json_decref(text);
}
END_TEST

TCase *schema_case(void)
{
    TCase *tcase = tcase_create("schema");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_schema_allows_what_is_written);
    tcase_add_test(tcase, the_schema_names_every_key);
    tcase_add_test(tcase, every_row_has_a_member_of_its_type);
    tcase_add_test(tcase, the_schema_is_made_from_the_tables);
    tcase_add_test(tcase, the_schema_refuses_a_broken_document);
    tcase_add_test(tcase, a_keyword_that_is_not_checked_is_refused);
    return tcase;
}
