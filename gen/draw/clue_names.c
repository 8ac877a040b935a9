#include "clue_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gen/contract/instantiate.h"
#include "move.h"

/* --- one name --- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_number_axis(const struct problem *problem, int axis)
{
    return axis >= 0 && problem->axes[axis].kind == AXIS_NUMBER;
}

/* Returns the spelling of an axis or a derived size that equals the word, upper and lower case aside; NULL:
 * none does. */
static const char *same_name(const struct problem *problem, const char *word, size_t length)
{
    for (int i = 0; problem->axes[i].name; i++)
        if (is_number_axis(problem, i) && strlen(problem->axes[i].name) == length &&
            strncasecmp(problem->axes[i].name, word, length) == 0)
            return problem->axes[i].name;
    for (int i = 0; problem->derived && problem->derived[i].name; i++)
        if (strlen(problem->derived[i].name) == length &&
            strncasecmp(problem->derived[i].name, word, length) == 0)
            return problem->derived[i].name;
    return NULL;
}

/* The length of the first part of a name: num_cols and numCols have two parts. */
static size_t part_length(const char *word, size_t length)
{
    size_t part = 1;
    while (part < length && word[part] != '_' &&
           !(isupper((unsigned char)word[part]) && islower((unsigned char)word[part - 1])))
        part++;
    return part;
}

/* Finds an axis that is one of the name's parts. One letter alone is no such hint. */
static const char *name_in_parts(const struct problem *problem, const char *word, size_t length)
{
    for (size_t at = 0; at < length;) {
        const size_t part = part_length(word + at, length - at);
        const char *const found = part > 1 ? same_name(problem, word + at, part) : NULL;
        if (found)
            return found;
        at += part;
        while (at < length && word[at] == '_')
            at++;
    }
    return NULL;
}

/* Words that say nothing of an axis. */
static bool is_generic(const char *word, size_t length)
{
    static const char *const generic[] = {"size", "max",   "min",   "num", "per",
                                          "dim",  "count", "total", "row", "col"};
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        if (strlen(generic[i]) == length && strncasecmp(generic[i], word, length) == 0)
            return true;
    return length < 3;
}

static bool has_part(const char *name, const char *word, size_t length)
{
    for (size_t at = 0, whole = strlen(name); at < whole;) {
        const size_t part = part_length(name + at, whole - at);
        if (part == length && strncasecmp(name + at, word, length) == 0)
            return true;
        at += part;
        while (at < whole && name[at] == '_')
            at++;
    }
    return false;
}

/* Finds the only axis of which the word is a part: len is max_len. */
static const char *name_with_part(const struct problem *problem, const char *word, size_t length)
{
    const char *found = NULL;
    int count = 0;
    for (int i = 0; problem->axes[i].name; i++)
        if (is_number_axis(problem, i) && has_part(problem->axes[i].name, word, length)) {
            found = problem->axes[i].name;
            count++;
        }
    return count == 1 && !is_generic(word, length) ? found : NULL;
}

static const char *argument_text(const struct argument_texts *arguments, const char *word, size_t length)
{
    const struct argument *const argument = arguments->problem->arguments;
    for (int i = 0; argument && argument[i].name; i++)
        if (strlen(argument[i].name) == length && strncasecmp(argument[i].name, word, length) == 0 &&
            arguments->text[i][0])
            return arguments->text[i];
    return NULL;
}

static const char *resolve(const struct argument_texts *arguments, const char *word, size_t length)
{
    const char *found = same_name(arguments->problem, word, length);
    if (!found)
        found = argument_text(arguments, word, length);
    if (!found)
        found = name_in_parts(arguments->problem, word, length);
    return found ? found : name_with_part(arguments->problem, word, length);
}

/* --- arguments --- */

enum { SAMPLES = 24 };

/* Values of each argument on some configurations. Returns false when memory is out. */
static bool sample_arguments(const struct space *space, struct pcg *stream, struct config *config,
                             int64_t value[SAMPLES][PROBLEM_MAX_ARGUMENTS])
{
    for (int s = 0; s < SAMPLES; s++) {
        struct instance instance;
        draw_least(space, &config[s]);
        draw_small_values(space, &config[s], stream);
        if (draw_repair(space, &config[s], -1) == REPAIR_FAILED)
            config[s] = config[s > 0 ? s - 1 : 0];
        if (config_measure(&config[s], &instance) != 0)
            return false;
        memcpy(value[s], instance.extent, sizeof instance.extent);
        instance_clear(&instance);
    }
    return true;
}

/* Does the product of the two axes equal the argument on all samples? `b` -1: the axis alone. */
static bool is_product(const struct config *config, int64_t value[SAMPLES][PROBLEM_MAX_ARGUMENTS],
                       int argument, int a, int b)
{
    for (int s = 0; s < SAMPLES; s++)
        if (config[s].value[a] * (b < 0 ? 1 : config[s].value[b]) != value[s][argument])
            return false;
    return true;
}

static void find_argument(struct argument_texts *arguments, const struct config *config,
                          int64_t value[SAMPLES][PROBLEM_MAX_ARGUMENTS], int argument)
{
    const struct axis *const axes = arguments->problem->axes;
    char *const text = arguments->text[argument];
    for (int a = 0; axes[a].name && !*text; a++)
        if (is_number_axis(arguments->problem, a) && is_product(config, value, argument, a, -1))
            snprintf(text, CLUE_TEXT_SIZE, "%s", axes[a].name);
    for (int a = 0; axes[a].name && !*text; a++)
        for (int b = a + 1; axes[b].name && !*text; b++)
            if (is_number_axis(arguments->problem, a) && is_number_axis(arguments->problem, b) &&
                is_product(config, value, argument, a, b))
                snprintf(text, CLUE_TEXT_SIZE, "(%s * %s)", axes[a].name, axes[b].name);
}

void argument_texts_find(struct argument_texts *arguments, const struct space *space, struct pcg *stream)
{
    struct config config[SAMPLES];
    int64_t value[SAMPLES][PROBLEM_MAX_ARGUMENTS];
    const struct argument *const argument = space->problem->arguments;
    *arguments = (struct argument_texts){.problem = space->problem};
    if (!sample_arguments(space, stream, config, value))
        return;
    for (int i = 0; argument && argument[i].name; i++)
        if ((argument[i].type == ARGUMENT_I64 || argument[i].type == ARGUMENT_I32) &&
            !same_name(space->problem, argument[i].name, strlen(argument[i].name)))
            find_argument(arguments, config, value, i);
}

/* --- the names of a term --- */

/* The next name in `text`, or NULL. "?" is a name. */
static const char *next_name(const char *text, size_t *length)
{
    for (const char *c = text; *c; c++) {
        *length = 1;
        if (*c == '?')
            return c;
        if (!is_word(*c))
            continue;
        while (is_word(c[*length]))
            ++*length;
        if (!isdigit((unsigned char)*c))
            return c;
        c += *length - 1;
    }
    return NULL;
}

typedef const char *replacement(const void *data, const char *word, size_t length);

/* Replaces names; NULL from `with` keeps one. Returns false if the text gets too long, and then keeps all. */
static bool replace_names(char text[CLUE_TEXT_SIZE], replacement *with, const void *data)
{
    char out[CLUE_TEXT_SIZE];
    size_t used = 0, length;
    const char *from = text;
    for (const char *name; (name = next_name(from, &length)); from = name + length) {
        const char *const other = with(data, name, length);
        used += (size_t)snprintf(out + used, sizeof out - used, "%.*s", (int)(name - from), from);
        if (used < sizeof out)
            used += (size_t)snprintf(out + used, sizeof out - used, "%.*s",
                                     other ? (int)strlen(other) : (int)length, other ? other : name);
        if (used >= sizeof out)
            return false;
    }
    used += (size_t)snprintf(out + used, sizeof out - used, "%s", from);
    if (used >= sizeof out)
        return false;
    memcpy(text, out, used + 1);
    return true;
}

static bool replace_all(struct clue *clue, replacement *with, const void *data)
{
    for (int i = 0; i < clue->terms; i++)
        if (!replace_names(clue->term[i].subject, with, data) ||
            !replace_names(clue->term[i].bound, with, data))
            return false;
    return true;
}

/* --- resolving --- */

static const char *resolve_for(const void *data, const char *word, size_t length)
{
    return resolve(data, word, length);
}

static void list_unknown(struct unknown_names *unknown, const struct problem *problem, const char *text)
{
    size_t length;
    for (const char *name = text; (name = next_name(name, &length)); name += length) {
        bool listed = same_name(problem, name, length) != NULL;
        for (int i = 0; i < unknown->count; i++)
            listed = listed ||
                     (strlen(unknown->name[i]) == length && strncmp(unknown->name[i], name, length) == 0);
        if (listed)
            continue;
        if (unknown->count == CLUE_MOST_UNKNOWN || length >= CLUE_NAME_SIZE) {
            unknown->more = true;
            return;
        }
        snprintf(unknown->name[unknown->count++], CLUE_NAME_SIZE, "%.*s", (int)length, name);
    }
}

void clue_resolve(struct clue *clue, const struct argument_texts *arguments, struct unknown_names *unknown)
{
    *unknown = (struct unknown_names){.count = 0};
    if (!replace_all(clue, resolve_for, arguments))
        unknown->more = true;
    for (int i = 0; i < clue->terms; i++) {
        list_unknown(unknown, arguments->problem, clue->term[i].subject);
        list_unknown(unknown, arguments->problem, clue->term[i].bound);
    }
}

/* --- binding --- */

struct binding {
    const struct unknown_names *unknown;
    const char *const *text;
};

static const char *bound_text(const void *data, const char *word, size_t length)
{
    const struct binding *const binding = data;
    for (int i = 0; i < binding->unknown->count; i++)
        if (strlen(binding->unknown->name[i]) == length &&
            strncmp(binding->unknown->name[i], word, length) == 0)
            return binding->text[i];
    return NULL;
}

bool clue_bind(struct clue *clue, const struct unknown_names *unknown, const char *const *text)
{
    const struct binding binding = {unknown, text};
    return replace_all(clue, bound_text, &binding);
}
