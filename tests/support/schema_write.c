/* The JSON schema of a result, made from the tables that write and read it. */
#include <stdlib.h>
#include <string.h>

#include "reports/json/json_fields.h"
#include "schema.h"

struct schema {
    json_t *definitions; /* of $defs */
};

static json_t *record_schema(struct schema *s, const struct record *record);

/* A reference to a definition, which is added once. Takes `schema`. */
static json_t *defined(struct schema *s, const char *definition, json_t *schema)
{
    char reference[64];

    if (definition == NULL)
        return schema;
    snprintf(reference, sizeof reference, "#/$defs/%s", definition);
    json_object_set_new(s->definitions, definition, schema);
    return json_pack("{s:s}", "$ref", reference);
}

static json_t *or_null(json_t *schema)
{
    return json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type", "null");
}

static json_t *type_schema(const char *type, bool null)
{
    return null ? json_pack("{s:[s, s]}", "type", type, "null") : json_pack("{s:s}", "type", type);
}

static json_t *whole_schema(int low, bool null)
{
    json_t *const schema = type_schema("integer", null);

    if (low != INT32_MIN)
        json_object_set_new(schema, "minimum", json_integer(low));
    return schema;
}

static json_t *names_schema(struct schema *s, const struct names *names, bool null)
{
    json_t *const list = json_array();

    for (int i = 0; i < names->count; i++)
        if (names->name(i) != NULL)
            json_array_append_new(list, json_string(names->name(i)));
        else
            null = true;
    if (null && names->definition == NULL)
        json_array_append_new(list, json_null());
    json_t *const schema = defined(s, names->definition, json_pack("{s:o}", "enum", list));
    return null && names->definition != NULL ? or_null(schema) : schema;
}

static json_t *number_schema(struct schema *s, bool null)
{
    json_t *const schema = defined(
        s, "number",
        json_pack("{s:[{s:s}, {s:[s, s, s]}]}", "anyOf", "type", "number", "enum", "nan", "inf", "-inf"));

    return null ? or_null(schema) : schema;
}

static json_t *list_schema(json_t *items, bool null)
{
    json_t *const schema = type_schema("array", null);

    json_object_set_new(schema, "items", items);
    return schema;
}

static json_t *own_schema(struct schema *s, const struct field *field)
{
    json_t *schema;

    if (field->schema != NULL)
        return json_loads(field->schema, 0, NULL);
    schema = field->record != NULL ? record_schema(s, field->record)
                                   : names_schema(s, field->names, field->when != NULL);
    return field->record != NULL && field->when != NULL ? or_null(schema) : schema;
}

static json_t *field_schema(struct schema *s, const struct field *field)
{
    const bool null = field->when != NULL;

    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_NOT: return type_schema("boolean", null);
    case FIELD_COUNT: return whole_schema(field->low, null);
    case FIELD_WHOLE: return whole_schema(0, null);
    case FIELD_SEED: return type_schema("integer", null);
    case FIELD_NUMBER: return number_schema(s, null);
    case FIELD_POSITIVE: return number_schema(s, true);
    case FIELD_TEXT:
    case FIELD_STRING: return type_schema("string", !field->filled);
    case FIELD_NAME: return names_schema(s, field->names, null);
    case FIELD_EITHER: return json_pack("{s:[s, s]}", "enum", field->words[0], field->words[1]);
    case FIELD_LINES: return list_schema(type_schema("string", false), null);
    case FIELD_RECORD: {
        json_t *const schema = record_schema(s, field->record);
        return null || field->record->optional ? or_null(schema) : schema;
    }
    case FIELD_LIST: return list_schema(record_schema(s, field->record), null);
    case FIELD_EACH: break; /* it has several keys */
    case FIELD_OWN: return own_schema(s, field);
    }
    return NULL;
}

static void add_key(json_t *into, const char *key, json_t *schema, const char *about)
{
    json_array_append_new(json_object_get(into, "required"), json_string(key));
    if (about != NULL)
        json_object_set_new(schema, "description", json_string(about));
    json_object_set_new(json_object_get(into, "properties"), key, schema);
}

static void add_fields(struct schema *s, const struct record *record, json_t *into)
{
    for (const struct field *field = record->fields; !field_is_end(field); field++)
        if (field->type == FIELD_EACH)
            for (int i = 0; i < field->names->count; i++)
                add_key(into, field->names->name(i),
                        field->record != NULL ? record_schema(s, field->record) : whole_schema(0, false),
                        field->about);
        else if (field->key != NULL)
            add_key(into, field->key, field_schema(s, field), field->about);
        else if (field->record != NULL)
            add_fields(s, field->record, into);
        else
            json_object_update_new(into, field_schema(s, field));
}

static json_t *bare_schema(struct schema *s, const struct record *record)
{
    json_t *const schema = json_pack("{s:s, s:[], s:{}}", "type", "object", "required", "properties");

    if (record->about != NULL)
        json_object_set_new(schema, "description", json_string(record->about));
    add_fields(s, record, schema);
    return schema;
}

static json_t *record_schema(struct schema *s, const struct record *record)
{
    return defined(s, record->definition, bare_schema(s, record));
}

/* ---- Layout: a value stands on one line where it fits ---- */

enum { WIDTH = 120 };

static void print_value(FILE *out, const json_t *value, int column, int depth);

static void print_member(FILE *out, const char *key, const json_t *value, int depth, bool last)
{
    fprintf(out, "\n%*s", depth, "");
    if (key != NULL)
        fprintf(out, "\"%s\": ", key);
    print_value(out, value, depth + (key != NULL ? (int)strlen(key) + 4 : 0), depth);
    fputs(last ? "" : ",", out);
}

static void print_value(FILE *out, const json_t *value, int column, int depth)
{
    char *const line = json_dumps(value, JSON_ENCODE_ANY);
    const size_t count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    const char *key;
    json_t *member;
    size_t i = 0;

    if (line != NULL && (count == 0 || column + strlen(line) < WIDTH)) {
        fputs(line, out);
    } else if (json_is_object(value)) {
        fputc('{', out);
        json_object_foreach((json_t *)value, key, member)
            print_member(out, key, member, depth + 1, ++i == count);
        fprintf(out, "\n%*s}", depth, "");
    } else {
        fputc('[', out);
        json_array_foreach(value, i, member) print_member(out, NULL, member, depth + 1, i + 1 == count);
        fprintf(out, "\n%*s]", depth, "");
    }
    free(line);
}

char *schema_write(void)
{
    struct schema s = {.definitions = json_object()};
    json_t *const schema = json_pack("{s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                                     "title", "unseen verify: the result, schema 1");
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    json_object_update_new(schema, bare_schema(&s, &result_record));
    json_object_set_new(schema, "$defs", s.definitions);
    print_value(out, schema, 0, 0);
    fputc('\n', out);
    fclose(out);
    json_decref(schema);
    return text;
}
