/* Reads the axes of a stored result, as a problem that has axes only, and its lists of words. */
#include <stdlib.h>

#include "stored_internal.h"

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
    const json_t *list = stored_array(r, axis, "choices"), *choice;
    size_t i;

    json_array_foreach(list, i, choice)
    {
        if (!json_is_string(choice) ||
            *json_string_value(choice) == '\0') /* json.c writes an empty choice as null */
            stored_fail(r, "axes", choice, "choices that are texts");
        *next++ = json_string_value(choice);
    }
    return next + 1;
}

static void read_derived(struct reading *r, const json_t *json, struct derived *derived)
{
    const json_t *const list = stored_array(r, json, "derived"), *name;
    size_t i;

    json_array_foreach(list, i, name)
    {
        if (i >= RESULT_DERIVED || !json_is_string(name)) {
            stored_fail(r, "derived", name, "at most 8 names");
            return;
        }
        derived[i].name = json_string_value(name);
    }
}

void stored_axes(struct reading *r, const json_t *json, const char *problem)
{
    const json_t *list = stored_array(r, json, "axes"), *axis;
    const char **next;
    struct axes *axes;
    size_t i;

    if (list == NULL)
        return;
    if (json_array_size(list) > PROBLEM_MAX_AXES) {
        stored_fail(r, "axes", list, "at most 24 axes");
        return;
    }
    axes = calloc(1, sizeof *axes + count_choices(list) * sizeof *axes->choice);
    if (axes == NULL)
        return; /* stored_read reports it as missing */
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
        axes->axis[i].name = stored_text(r, axis, "name");
        axes->axis[i].kind = (enum axis_kind)stored_name(r, axis, "kind", kind_word, 2, AXIS_NUMBER);
        axes->axis[i].choices = next;
        next = read_choices(r, axis, next);
        if (axes->axis[i].name == NULL)
            stored_fail(r, "axes", axis, "axes with names");
    }
    r->problem = &axes->problem;
}

bool stored_words(struct reading *r, const json_t *json, struct stored *stored)
{
    const json_t *list = stored_array(r, json, "check_options"), *word;
    size_t i;

    stored->words = calloc(json_array_size(list) + 1, sizeof *stored->words);
    if (stored->words == NULL)
        return false;
    json_array_foreach(list, i, word)
    {
        if (!json_is_string(word))
            stored_fail(r, "check_options", word, "texts");
        stored->words[i] = json_is_string(word) ? json_string_value(word) : "";
    }
    stored->result.check_options = stored->words;
    return true;
}
