/* Tables of a result's axes, derived sizes and words of a command. The reader makes a problem of them, which
 * has axes only. */
#include <stdlib.h>

#include "json_fields.h"
#include "json_values.h"
#include "json_read_internal.h"

/* ---- Writing ---- */

static json_t *choices_json(const struct problem *problem, int axis)
{
    json_t *array;

    if (problem->axes[axis].kind == AXIS_NUMBER)
        return json_null();
    array = json_array();
    for (int i = 0; problem_choice(problem, axis, i) != NULL; i++)
        if (json_array_append_new(array, json_of_text(problem_choice(problem, axis, i))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *write_axes(const void *record)
{
    const struct problem *problem = result_problem(record);
    json_t *array;

    if (problem == NULL)
        return json_null();
    array = json_array();
    for (int i = 0; problem->axes[i].name != NULL; i++)
        if (json_array_append_new(array, json_pack("{s:s, s:s, s:o}", "name", problem->axes[i].name, "kind",
                                                   problem->axes[i].kind == AXIS_NUMBER ? "number" : "choice",
                                                   "choices", choices_json(problem, i))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *write_derived(const void *record)
{
    const struct problem *problem = result_problem(record);
    json_t *array = json_array();

    for (int i = 0; problem != NULL && problem->derived != NULL && i < RESULT_DERIVED; i++) {
        if (problem->derived[i].name == NULL)
            break;
        json_array_append_new(array, json_of_text(problem->derived[i].name));
    }
    return array;
}

static json_t *write_words(const void *record)
{
    const char *const *word = ((const struct result *)record)->check_options;
    json_t *array = json_array();

    for (; word != NULL && *word != NULL; word++)
        if (json_array_append_new(array, **word ? json_of_text(*word) : json_string("")) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* ---- Reading ---- */

/* One allocation holds the problem and its lists, all of them NULL-terminated. */
struct axes {
    struct problem problem;
    struct axis axis[PROBLEM_MAX_AXES + 1];
    struct tensor no_tensor;
    struct argument no_argument;
    struct derived derived[RESULT_DERIVED + 1];
    const char *choice[];
};

static size_t count_choices(const json_t *axes)
{
    const json_t *axis;
    size_t i, count = 0;

    json_array_foreach(axes, i, axis) count += json_array_size(json_object_get(axis, "choices")) + 1;
    return count;
}

static const char *kind_word(int i)
{
    return i == AXIS_NUMBER ? "number" : "choice";
}

static const char **read_choices(struct reading *r, const json_t *axis, const char **next)
{
    const json_t *list = json_read_array(r, axis, "choices"), *choice;
    size_t i;

    json_array_foreach(list, i, choice)
    {
        if (!json_is_string(choice) ||
            *json_string_value(choice) == '\0') /* json.c writes an empty choice as null */
            json_read_fail(r, "axes", choice, "choices that are texts");
        *next++ = json_string_value(choice);
    }
    return next + 1;
}

static void read_derived(struct reading *r, const json_t *json, struct derived *derived)
{
    const json_t *const list = json_read_array(r, json, "derived"), *name;
    size_t i;

    json_array_foreach(list, i, name)
    {
        if (i >= RESULT_DERIVED || !json_is_string(name)) {
            json_read_fail(r, "derived", name, "at most 8 names");
            return;
        }
        derived[i].name = json_string_value(name);
    }
}

void json_read_axes(struct reading *r, const json_t *json, const char *problem)
{
    const json_t *list = json_read_array(r, json, "axes"), *axis;
    const char **next;
    struct axes *axes;
    size_t i;

    if (list == NULL)
        return;
    if (json_array_size(list) > PROBLEM_MAX_AXES) {
        json_read_fail(r, "axes", list, "at most 24 axes");
        return;
    }
    axes = calloc(1, sizeof *axes + count_choices(list) * sizeof *axes->choice);
    r->no_memory = axes == NULL;
    if (axes == NULL)
        return;
    axes->problem = (struct problem){.name = problem,
                                     .summary = "",
                                     .axes = axes->axis,
                                     .tensors = &axes->no_tensor,
                                     .arguments = &axes->no_argument,
                                     .derived = axes->derived};
    read_derived(r, json, axes->derived);
    next = axes->choice;
    json_array_foreach(list, i, axis)
    {
        axes->axis[i].name = json_read_text(r, axis, "name");
        axes->axis[i].kind = (enum axis_kind)json_read_name(r, axis, "kind", kind_word, 2, AXIS_NUMBER);
        axes->axis[i].choices = next;
        next = read_choices(r, axis, next);
        if (axes->axis[i].name == NULL)
            json_read_fail(r, "axes", axis, "axes with names");
    }
    r->problem = &axes->problem;
}

static void read_words(struct reading *r, const json_t *object, const char *key, void *record)
{
    const json_t *const list = json_read_array(r, object, key), *word;
    const char **const words = calloc(json_array_size(list) + 1, sizeof *words);
    size_t i;

    r->no_memory = r->no_memory || words == NULL;
    for (i = 0; words != NULL && i < json_array_size(list); i++) {
        word = json_array_get(list, i);
        if (!json_is_string(word))
            json_read_fail(r, key, word, "texts");
        words[i] = json_is_string(word) ? json_string_value(word) : "";
    }
    ((struct result *)record)->check_options = words;
}

/* ---- The tables ---- */

static const struct field words_fields[] = {
    FIELD_ITSELF(OWN, "check_options", "final words of a reproduction command", .write = write_words,
                 .read = read_words, .schema = "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"),
    FIELD_END,
};
const struct record words_record = {.fields = words_fields};

/* json_read_axes reads both before everything else. */
static const struct field axes_fields[] = {
    FIELD_ITSELF(
        OWN, "axes", "in the order of a configuration's `values`", .write = write_axes, .write_only = true,
        .schema = "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"object\", "
                  "\"required\": [\"name\", \"kind\", \"choices\"], \"properties\": "
                  "{\"name\": {\"type\": \"string\"}, \"kind\": {\"enum\": [\"number\", \"choice\"]}, "
                  "\"choices\": {\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"string\"}}}}}"),
    FIELD_END,
};
const struct record axes_record = {.fields = axes_fields};

static const struct field derived_fields[] = {
    FIELD_ITSELF(OWN, "derived", "names of the problem's derived sizes", .write = write_derived,
                 .write_only = true, .schema = "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"),
    FIELD_END,
};
const struct record derived_record = {.fields = derived_fields};
