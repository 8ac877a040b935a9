#include "json_read_internal.h"

#include <math.h>
#include <string.h>

/* Describes a found value. Text from the file is quoted only if it is short and plain. */
static void found_words(char *buffer, size_t size, const json_t *value)
{
    if (value == NULL)
        snprintf(buffer, size, "missing");
    else if (json_is_integer(value))
        snprintf(buffer, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_string(value) && strlen(json_string_value(value)) < 40 &&
             strspn(json_string_value(value), "abcdefghijklmnopqrstuvwxyz0123456789 -_.:") ==
                 strlen(json_string_value(value)))
        snprintf(buffer, size, "\"%s\"", json_string_value(value));
    else
        snprintf(buffer, size, "%s",
                 json_is_string(value)    ? "a text"
                 : json_is_real(value)    ? "a number with a fraction"
                 : json_is_array(value)   ? "a list"
                 : json_is_object(value)  ? "an object"
                 : json_is_boolean(value) ? "true or false"
                                          : "null");
}

void json_read_fail(struct reading *r, const char *key, const json_t *value, const char *expected)
{
    char found[64];

    if (r->failed)
        return;
    r->failed = true;
    found_words(found, sizeof found, value);
    snprintf(r->error, r->error_size,
             "%s: %s%s is %s; expected %s\n"
             "---> give a result as `unseen verify --json` wrote it, or write it again",
             r->path, r->at, key, found, expected);
}

/* Returns NULL if the key is missing or null, or after an earlier failure. */
static const json_t *value_of(const struct reading *r, const json_t *object, const char *key)
{
    const json_t *value = r->failed ? NULL : json_object_get(object, key);

    return json_is_null(value) ? NULL : value;
}

bool json_read_flag(struct reading *r, const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = value_of(r, object, key);

    if (value == NULL)
        return otherwise;
    if (!json_is_boolean(value))
        json_read_fail(r, key, value, "true or false");
    return json_is_true(value);
}

double json_read_number(struct reading *r, const json_t *object, const char *key, double otherwise)
{
    static const struct {
        const char *name;
        double value;
    } strange[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    const json_t *value = value_of(r, object, key);

    if (value == NULL)
        return otherwise;
    if (json_is_number(value))
        return json_number_value(value);
    for (size_t i = 0; json_is_string(value) && i < sizeof strange / sizeof *strange; i++)
        if (strcmp(json_string_value(value), strange[i].name) == 0)
            return strange[i].value;
    json_read_fail(r, key, value, "a number, or \"nan\", \"inf\" or \"-inf\"");
    return otherwise;
}

int64_t json_read_whole(struct reading *r, const json_t *object, const char *key, int64_t low, int64_t high,
                        int64_t otherwise)
{
    const json_t *value = value_of(r, object, key);
    char expected[96];

    if (value == NULL)
        return otherwise;
    if (json_is_integer(value) && json_integer_value(value) >= low && json_integer_value(value) <= high)
        return json_integer_value(value);
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)low, (long long)high);
    json_read_fail(r, key, value, expected);
    return otherwise;
}

int json_read_count(struct reading *r, const json_t *object, const char *key)
{
    return (int)json_read_whole(r, object, key, 0, INT32_MAX, 0);
}

const char *json_read_text(struct reading *r, const json_t *object, const char *key)
{
    const json_t *value = value_of(r, object, key);

    if (value != NULL && !json_is_string(value))
        json_read_fail(r, key, value, "a text");
    return json_string_value(value);
}

void json_read_copy(struct reading *r, const json_t *object, const char *key, char *buffer, size_t size)
{
    const char *text = json_read_text(r, object, key);
    char expected[64];

    buffer[0] = '\0';
    if (text == NULL)
        return;
    snprintf(expected, sizeof expected, "a text of at most %zu bytes", size - 1);
    if (strlen(text) >= size)
        json_read_fail(r, key, json_object_get(object, key), expected);
    else
        strcpy(buffer, text);
}

int json_read_name(struct reading *r, const json_t *object, const char *key, name_of *name, int count,
                   int otherwise)
{
    const char *text = json_read_text(r, object, key);
    char expected[400] = "one of";

    if (text == NULL)
        return otherwise;
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(expected);

        if (name(i) == NULL)
            continue;
        if (strcmp(text, name(i)) == 0)
            return i;
        snprintf(expected + used, sizeof expected - used, "%s %s", used > 6 ? "," : "", name(i));
    }
    json_read_fail(r, key, json_object_get(object, key), expected);
    return otherwise;
}

const json_t *json_read_object(struct reading *r, const json_t *object, const char *key)
{
    const json_t *value = value_of(r, object, key);

    if (value != NULL && !json_is_object(value)) {
        json_read_fail(r, key, value, "an object");
        return NULL;
    }
    return value;
}

const json_t *json_read_array(struct reading *r, const json_t *object, const char *key)
{
    const json_t *value = value_of(r, object, key);

    if (value != NULL && !json_is_array(value)) {
        json_read_fail(r, key, value, "a list");
        return NULL;
    }
    return value;
}
