/* Reads a JSON object into a record, by its table. */
#include <stdlib.h>
#include <string.h>

#include "json_read_internal.h"

static void read_lines(struct reading *r, const json_t *object, const struct field *field, char *record)
{
    const json_t *const lines = json_read_array(r, object, field->key), *line;
    const size_t size = field->size / field->most;
    size_t i;

    json_array_foreach(lines, i, line)
    {
        if (i >= field->most || !json_is_string(line) || strlen(json_string_value(line)) >= size) {
            json_read_fail(r, field->key, line, field->limits);
            return;
        }
        strcpy(record + field->offset + i * size, json_string_value(line));
    }
    if (field->count > 0)
        *(int *)(record + field->count) = (int)json_array_size(lines);
}

/* Where the elements of a list go: into the record, or into memory of their own. NULL with an error. */
static char *place_items(struct reading *r, const json_t *list, const struct field *field, char *record)
{
    char *items = record + field->offset;

    if (field->most == 0) {
        char *const member = items;
        items = calloc(json_array_size(list) + 1, field->record->size);
        memcpy(member, &items, sizeof items); /* a pointer to the record's struct */
        r->no_memory = r->no_memory || items == NULL;
    } else if (!field->objects && json_array_size(list) > field->most) {
        json_read_fail(r, field->key, list, field->limits);
        return NULL;
    }
    return items;
}

static void read_list(struct reading *r, const json_t *object, const struct field *field, char *record)
{
    const json_t *const list = json_read_array(r, object, field->key), *item;
    char *const items = place_items(r, list, field, record);
    size_t i;

    if (items == NULL)
        return;
    json_array_foreach(list, i, item)
    {
        if (field->objects && (i >= field->most || !json_is_object(item))) {
            json_read_fail(r, field->key, item, field->limits);
            return;
        }
        if (field->at != NULL)
            snprintf(r->at, sizeof r->at, "%s[%zu].", field->at, i);
        json_read_record(r, field->record, item, items + i * field->record->size);
    }
    *(int *)(record + field->count) = (int)json_array_size(list);
}

static void read_nested(struct reading *r, const json_t *object, const struct field *field, void *at)
{
    const json_t *const value = field->key != NULL ? json_read_object(r, object, field->key) : object;

    if (field->at != NULL)
        snprintf(r->at, sizeof r->at, "%s.", field->at);
    if (field->record->optional)
        *(bool *)at = value != NULL;
    if (value != NULL || !field->record->optional)
        json_read_record(r, field->record, value, at);
}

static void read_each(struct reading *r, const json_t *object, const struct field *field, char *at)
{
    const size_t size = field->size / (size_t)field->names->count;

    for (int i = 0; i < field->names->count; i++, at += size) {
        const char *const key = field->names->name(i);

        if (field->record != NULL)
            json_read_record(r, field->record, json_read_object(r, object, key), at);
        else
            *(int *)at = json_read_count(r, object, key);
    }
}

static bool read_either(struct reading *r, const json_t *object, const struct field *field)
{
    const char *const text = json_read_text(r, object, field->key);
    char expected[96];

    if (text != NULL && strcmp(text, field->words[0]) != 0 && strcmp(text, field->words[1]) != 0 &&
        !field->lenient) {
        snprintf(expected, sizeof expected, "one of %s, %s", field->words[0], field->words[1]);
        json_read_fail(r, field->key, json_object_get(object, field->key), expected);
    }
    return text != NULL && strcmp(text, field->words[1]) == 0;
}

static void read_field(struct reading *r, const json_t *object, const struct field *field, void *record)
{
    void *const at = (char *)record + field->offset;
    const char *const key = field->key;

    switch (field->type) {
    case FIELD_BOOL: *(bool *)at = json_read_flag(r, object, key, false); break;
    case FIELD_NOT: *(bool *)at = !json_read_flag(r, object, key, true); break;
    case FIELD_COUNT:
        *(int *)at = (int)json_read_whole(r, object, key, field->low, field->high ? field->high : INT32_MAX,
                                          field->otherwise);
        break;
    case FIELD_WHOLE: *(int64_t *)at = json_read_whole(r, object, key, 0, INT64_MAX, 0); break;
    case FIELD_SEED:
        *(uint64_t *)at = (uint64_t)json_read_whole(r, object, key, INT64_MIN, INT64_MAX, 0);
        break;
    case FIELD_NUMBER:
    case FIELD_POSITIVE: *(double *)at = json_read_number(r, object, key, 0); break;
    case FIELD_TEXT: json_read_copy(r, object, key, at, field->size); break;
    case FIELD_STRING: *(const char **)at = json_read_text(r, object, key); break;
    case FIELD_NAME:
        *(int *)at =
            json_read_name(r, object, key, field->names->name, field->names->count, field->otherwise);
        break;
    case FIELD_EITHER: *(bool *)at = read_either(r, object, field); break;
    case FIELD_LINES: read_lines(r, object, field, record); break;
    case FIELD_RECORD: read_nested(r, object, field, at); break;
    case FIELD_LIST: read_list(r, object, field, record); break;
    case FIELD_EACH: read_each(r, object, field, at); break;
    case FIELD_OWN: field->read(r, object, key, record); break;
    }
    if (field->required != NULL && json_read_text(r, object, key) == NULL)
        json_read_fail(r, key, json_object_get(object, key), field->required);
}

void json_read_record(struct reading *r, const struct record *record, const json_t *object, void *data)
{
    char at[sizeof r->at];

    memcpy(at, r->at, sizeof at);
    for (const struct field *field = record->fields; !field_is_end(field); field++) {
        if (field->write_only || (field->gated && !field->when(data)))
            continue;
        read_field(r, object, field, data);
        memcpy(r->at, at, sizeof at); /* a nested record may have its own path */
    }
    if (record->finish != NULL)
        record->finish(r, object, data);
}
