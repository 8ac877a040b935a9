#include "schema.h"

#include <stdio.h>
#include <string.h>

struct checking {
    const json_t *root;
    char *error;
    size_t size;
};

static bool check(const struct checking *c, const json_t *schema, const json_t *value, const char *at);

static bool fail(const struct checking *c, const char *at, const char *keyword)
{
    snprintf(c->error, c->size, "%s: %s", *at ? at : "the document", keyword);
    return false;
}

static bool is_of(const char *type, const json_t *value)
{
    return strcmp(type, "object") == 0    ? json_is_object(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "string") == 0  ? json_is_string(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "number") == 0  ? json_is_number(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(type, "null") == 0    ? json_is_null(value)
                                          : false;
}

static bool check_type(const json_t *types, const json_t *value)
{
    const json_t *type;
    size_t i;
    if (json_is_string(types))
        return is_of(json_string_value(types), value);
    json_array_foreach(types, i, type) if (is_of(json_string_value(type), value)) return true;
    return false;
}

static bool check_enum(const json_t *list, const json_t *value)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one) if (json_equal(one, value)) return true;
    return false;
}

static bool check_required(const json_t *names, const json_t *value)
{
    const json_t *name;
    size_t i;
    json_array_foreach(names, i, name) if (json_is_object(value) &&
                                           !json_object_get(value, json_string_value(name))) return false;
    return true;
}

static bool check_properties(const struct checking *c, const json_t *properties, const json_t *value,
                             const char *at)
{
    const char *key;
    json_t *schema;
    char place[256];
    json_object_foreach((json_t *)properties, key, schema)
    {
        const json_t *member = json_object_get(value, key);
        snprintf(place, sizeof place, "%s%s%s", at, *at ? "." : "", key);
        if (member && !check(c, schema, member, place))
            return false;
    }
    return true;
}

static bool check_items(const struct checking *c, const json_t *schema, const json_t *value, const char *at)
{
    const json_t *item;
    char place[256];
    size_t i;
    json_array_foreach(value, i, item)
    {
        snprintf(place, sizeof place, "%s[%zu]", at, i);
        if (!check(c, schema, item, place))
            return false;
    }
    return true;
}

static bool check_any(const struct checking *c, const json_t *schemas, const json_t *value, const char *at)
{
    const json_t *schema;
    size_t i;
    json_array_foreach(schemas, i, schema) if (check(c, schema, value, at)) return true;
    return false; /* `error` names the fault of the last one */
}

/* "#/$defs/NAME" */
static bool check_reference(const struct checking *c, const json_t *reference, const json_t *value,
                            const char *at)
{
    static const char start[] = "#/$defs/";
    const char *const name = json_string_value(reference);
    const json_t *found = NULL;
    if (name && strncmp(name, start, sizeof start - 1) == 0)
        found = json_object_get(json_object_get(c->root, "$defs"), name + sizeof start - 1);
    return found ? check(c, found, value, at) : fail(c, at, "a $ref that leads nowhere");
}

static bool check_keyword(const struct checking *c, const char *key, const json_t *rule, const json_t *value,
                          const char *at)
{
    if (strcmp(key, "type") == 0)
        return check_type(rule, value) || fail(c, at, key);
    if (strcmp(key, "enum") == 0)
        return check_enum(rule, value) || fail(c, at, key);
    if (strcmp(key, "const") == 0)
        return json_equal(rule, value) || fail(c, at, key);
    if (strcmp(key, "minimum") == 0)
        return !json_is_number(value) || json_number_value(value) >= json_number_value(rule) ||
               fail(c, at, key);
    if (strcmp(key, "required") == 0)
        return check_required(rule, value) || fail(c, at, key);
    if (strcmp(key, "properties") == 0)
        return check_properties(c, rule, value, at);
    if (strcmp(key, "items") == 0)
        return check_items(c, rule, value, at);
    if (strcmp(key, "anyOf") == 0)
        return check_any(c, rule, value, at);
    if (strcmp(key, "$ref") == 0)
        return check_reference(c, rule, value, at);
    if (strcmp(key, "$schema") == 0 || strcmp(key, "$defs") == 0 || strcmp(key, "title") == 0 ||
        strcmp(key, "description") == 0)
        return true;
    return fail(c, at, key);
}

static bool check(const struct checking *c, const json_t *schema, const json_t *value, const char *at)
{
    const char *key;
    json_t *rule;
    json_object_foreach((json_t *)schema, key,
                        rule) if (!check_keyword(c, key, rule, value, at)) return false;
    return true;
}

bool schema_allows(const json_t *schema, const json_t *document, char *error, size_t size)
{
    const struct checking c = {schema, error, size};
    return check(&c, schema, document, "");
}
