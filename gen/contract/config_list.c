/* Lists of configurations, and the files that hold them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space.h"
#include "space_internal.h"

int config_list_add(struct config_list *list, const struct config *config)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 16;
        struct config *item = realloc(list->item, (size_t)capacity * sizeof *item);
        if (!item)
            return -1;
        list->item = item;
        struct config_note *note = realloc(list->note, (size_t)capacity * sizeof *note);
        if (!note)
            return -1;
        list->note = note;
        list->capacity = capacity;
    }
    list->note[list->count] = (struct config_note){.calls = 0};
    list->item[list->count++] = *config;
    return 0;
}

void config_list_clear(struct config_list *list)
{
    free(list->item);
    free(list->note);
    *list = (struct config_list){0};
}

bool config_list_has(const struct config_list *list, int axis, int64_t value)
{
    for (int i = 0; i < list->count; i++)
        if (list->item[i].value[axis] == value)
            return true;
    return false;
}

struct list_reader {
    struct config_list *list;
    const struct space *space;
    const struct config_list
        *apart; /* points that are refused, and points already listed; NULL: all points are allowed */
};

static int refuse_listed(const struct list_reader *reader, const struct config *config, const char *where,
                         struct space_error *error)
{
    for (int i = 0; i < reader->apart->count; i++)
        if (config_same_point(&reader->apart->item[i], config))
            return space_fail(error,
                              "%s: this is a configuration of the seen set; an unseen one was expected\n"
                              "---> remove the line: it is run with that set",
                              where);
    for (int i = 0; i < reader->list->count; i++)
        if (config_equal(&reader->list->item[i], config))
            return space_fail(
                error,
                "%s: this line stands further up already; each configuration once was expected\n"
                "---> remove one of them, or give them seeds",
                where);
    return 0;
}

static int read_calls(struct config_note *note, const char *text, const char *where,
                      struct space_error *error)
{
    char *end;
    errno = 0;
    const long long calls = strtoll(text, &end, 10);
    if (errno || *end || end == text || calls < 1)
        return space_fail(error,
                          "%s: calls=%.40s in its comment; a whole number from 1 was expected\n"
                          "---> correct it, or take it out of the comment",
                          where, text);
    note->calls = calls;
    return 0;
}

/* Reads the words of a comment that stand for something; all others are for people. */
static int read_note(struct config_note *note, const char *comment, const char *where,
                     struct space_error *error)
{
    char *rest, *copy = strdup(comment);
    int status = copy ? 0 : space_fail(error, "%s: out of memory", where);
    *note = (struct config_note){.calls = 0};
    for (char *word = copy ? strtok_r(copy, " \t\r\n", &rest) : NULL; word && status == 0;
         word = strtok_r(NULL, " \t\r\n", &rest))
        if (strncmp(word, "calls=", 6) == 0)
            status = read_calls(note, word + 6, where, error);
        else if (strncmp(word, "workload=", 9) == 0)
            snprintf(note->workload, sizeof note->workload, "%s", word + 9);
    free(copy);
    return status;
}

static int read_listed(void *state, const char *line, const char *comment, const char *where,
                       struct space_error *error)
{
    struct list_reader *reader = state;
    struct space_error inner;
    struct config config;
    struct config_note note;
    if (config_parse(&config, reader->space->problem, line, where, error))
        return -1;
    if (!space_contains(reader->space, &config, &inner))
        return space_fail(error, "%.240s: %.760s", where, inner.text);
    if (reader->apart && refuse_listed(reader, &config, where, error))
        return -1;
    if (read_note(&note, comment, where, error))
        return -1;
    if (config_list_add(reader->list, &config))
        return space_fail(error, "%s: out of memory", where);
    reader->list->note[reader->list->count - 1] = note;
    return 0;
}

int config_list_read_apart(struct config_list *list, const struct space *space,
                           const struct config_list *apart, const char *path, struct space_error *error)
{
    struct list_reader reader = {.list = list, .space = space, .apart = apart};
    const int status = lines_each(path, false, read_listed, &reader, error);
    if (status == 0 && list->count == 0)
        return space_fail(error,
                          "%s: no configuration; lines such as 'rows=3 cols=4099 seed=91' were expected\n"
                          "---> add some, or take another file",
                          path);
    return status;
}

int config_list_read(struct config_list *list, const struct space *space, const char *path, bool optional,
                     struct space_error *error)
{
    struct list_reader reader = {.list = list, .space = space};
    return lines_each(path, optional, read_listed, &reader, error);
}
