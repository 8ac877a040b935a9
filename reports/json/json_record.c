/* Writes a record as a JSON object, by its table. */
#include <string.h>

#include "json_fields.h"
#include "json_values.h"

/* Appends `item` to `array`, unless one of them is NULL. Returns the array, or NULL without memory. */
static json_t *append(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *lines_json(const struct field *field, const void *record)
{
    const char *line = (const char *)record + field->offset;
    const size_t count =
        field->count > 0 ? (size_t) * (const int *)((const char *)record + field->count) : field->most;
    const size_t size = field->size / field->most;
    json_t *array = json_array();

    for (size_t i = 0; array != NULL && i < count && (field->count > 0 || *line != '\0'); i++, line += size)
        array = append(array, *line != '\0' ? json_of_text(line) : json_string(""));
    return array;
}

static json_t *list_json(const struct field *field, const void *record)
{
    const char *item = (const char *)record + field->offset;
    const int count = *(const int *)((const char *)record + field->count);
    json_t *array = json_array();

    if (field->most == 0)
        memcpy(&item, item, sizeof item); /* a pointer to the record's struct */
    for (int i = 0; array != NULL && i < count; i++, item += field->record->size)
        array = append(array, json_of_record(field->record, item));
    return array;
}

static json_t *each_json(const struct field *field, const void *record)
{
    const char *item = (const char *)record + field->offset;
    const size_t size = field->size / (size_t)field->names->count;
    json_t *json = json_object();

    for (int i = 0; json != NULL && i < field->names->count; i++, item += size)
        if (json_object_set_new(json, field->names->name(i),
                                field->record != NULL ? json_of_record(field->record, item)
                                                      : json_integer(*(const int *)item)) != 0) {
            json_decref(json);
            return NULL;
        }
    return json;
}

static json_t *field_json(const struct field *field, const void *record)
{
    const void *const at = (const char *)record + field->offset;

    if (field->when != NULL && !field->when(record))
        return json_null();
    switch (field->type) {
    case FIELD_BOOL: return json_boolean(*(const bool *)at);
    case FIELD_NOT: return json_boolean(!*(const bool *)at);
    case FIELD_COUNT: return json_integer(*(const int *)at < field->low ? field->low : *(const int *)at);
    case FIELD_WHOLE: return json_integer(*(const int64_t *)at);
    case FIELD_SEED: return json_integer((json_int_t) * (const uint64_t *)at);
    case FIELD_NUMBER: return json_of_number(*(const double *)at);
    case FIELD_POSITIVE: return json_of_number_if(*(const double *)at > 0, *(const double *)at);
    case FIELD_TEXT: return json_of_text(at);
    case FIELD_STRING: return json_of_text(*(const char *const *)at);
    case FIELD_NAME: return json_of_text(field->names->name(*(const int *)at));
    case FIELD_EITHER: return json_string(field->words[*(const bool *)at]);
    case FIELD_LINES: return lines_json(field, record);
    case FIELD_RECORD: return json_of_record(field->record, at);
    case FIELD_LIST: return list_json(field, record);
    case FIELD_EACH: return each_json(field, record);
    case FIELD_OWN: return field->write(record);
    }
    return NULL;
}

json_t *json_of_record(const struct record *record, const void *data)
{
    json_t *json;

    if (record->optional && !*(const bool *)data)
        return json_null();
    json = json_object();
    for (const struct field *field = record->fields; json != NULL && !field_is_end(field); field++) {
        json_t *const value = field_json(field, data);

        if ((field->key != NULL ? json_object_set_new(json, field->key, value)
                                : json_object_update_new(json, value)) != 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}
