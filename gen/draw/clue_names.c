#include "clue_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

static const char *resolve(const struct problem *problem, const char *word, size_t length)
{
    const char *const found = same_name(problem, word, length);
    return found ? found : name_in_parts(problem, word, length);
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

void clue_resolve(struct clue *clue, const struct problem *problem, struct unknown_names *unknown)
{
    *unknown = (struct unknown_names){.count = 0};
    if (!replace_all(clue, resolve_for, problem))
        unknown->more = true;
    for (int i = 0; i < clue->terms; i++) {
        list_unknown(unknown, problem, clue->term[i].subject);
        list_unknown(unknown, problem, clue->term[i].bound);
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
