#include "list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The place of a row in messages, and what it asks for. */
struct row {
    const char *where; /* "list.jsonl:3" or "the command line" */
    const char *problem, *file, *id;
    const json_t *options; /* NULL: none */
};

static const char *const suffixes[] = {".c", ".cpp", ".cc", ".cxx", ".cu", ".so", ".py"};

static bool is_candidate(const char *name)
{
    const char *const suffix = strrchr(name, '.');
    for (size_t i = 0; suffix && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(suffix, suffixes[i]) == 0)
            return true;
    return false;
}

/* --- options of a row --- */

/* Appends "--name", and the value's text. False: the option takes no such value. */
static bool add_words(json_t *words, const char *name, const json_t *value, bool takes_value)
{
    char text[512];
    snprintf(text, sizeof text, "--%.100s", name);
    if (json_is_true(value) == takes_value || json_array_append_new(words, json_string(text)) != 0)
        return false;
    if (!takes_value)
        return true;
    if (json_is_string(value))
        snprintf(text, sizeof text, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    else
        return false;
    return json_array_append_new(words, json_string(text)) == 0;
}

static int add_option(json_t *words, const struct batch_defaults *defaults, const struct row *row,
                      const char *name, json_t *value, char *error, size_t error_size)
{
    bool takes_value = false;
    if (!defaults->is_option(name, &takes_value)) {
        snprintf(error, error_size,
                 "%s: unknown option '%.60s'; expected an option of verify without dashes, such as \"seed\"\n"
                 "---> unseen batch --help lists those that a row may have",
                 row->where, name);
        return -1;
    }
    const size_t several = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < several; i++)
        if (!add_words(words, name, json_is_array(value) ? json_array_get(value, i) : value, takes_value)) {
            snprintf(error, error_size, "%s: found another value of option '%.60s'; expected %s\n---> %s",
                     row->where, name, takes_value ? "a text, a number or a list of them" : "true",
                     takes_value ? "for example {\"seed\": 5}" : "leave the option out to leave it off");
            return -1;
        }
    return 0;
}

/* --- rows --- */

static int refuse(const struct row *row, const char *found, const char *rest, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s: found %s; expected %s", row->where, found, rest);
    return -1;
}

static int check_row(const struct batch_list *list, const struct row *row, char *error, size_t error_size)
{
    char found[1200];
    struct stat status;
    if (!row->problem)
        return refuse(
            row, "no problem",
            "a name of `unseen list` or a folder\n---> add \"problem\" to the row, or give it before --list",
            error, error_size);
    if (!row->file || !*row->file)
        return refuse(row, "no file", "the path of a candidate\n---> add \"file\" to the row", error,
                      error_size);
    if (stat(row->file, &status) != 0) {
        snprintf(found, sizeof found, "%.1000s, which cannot be read (%s)", row->file, strerror(errno));
        return refuse(row, found, "a candidate\n---> correct the path, which begins at the working directory",
                      error, error_size);
    }
    if (json_object_get(list->ids, row->id)) {
        snprintf(found, sizeof found, "the id '%.200s' a second time", row->id);
        return refuse(row, found, "a new one\n---> give each row an \"id\" of its own", error, error_size);
    }
    return 0;
}

static struct batch_item *grow(struct batch_list *list)
{
    if (list->count == list->room) {
        const int room = list->room ? 2 * list->room : 64;
        struct batch_item *const grown = realloc(list->item, (size_t)room * sizeof *grown);
        if (!grown)
            return NULL;
        list->item = grown;
        list->room = room;
    }
    return &list->item[list->count];
}

static int add_row(struct batch_list *list, const struct batch_defaults *defaults, const struct row *row,
                   char *error, size_t error_size)
{
    const char *name;
    json_t *value;
    if (!list->ids)
        list->ids = json_object();
    if (check_row(list, row, error, error_size) != 0)
        return -1;
    struct batch_item *const item = grow(list);
    json_t *const words = json_copy(defaults->words);
    if (!item || !words) {
        snprintf(error, error_size, "out of memory");
        json_decref(words);
        return -1;
    }
    *item = (struct batch_item){strdup(row->id), strdup(row->problem), strdup(row->file), words};
    list->count++;
    json_object_set_new(list->ids, row->id, json_true());
    json_object_foreach((json_t *)row->options, name, value)
    {
        if (add_option(words, defaults, row, name, value, error, error_size) != 0)
            return -1;
    }
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_wanted(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_candidate(entry->d_name);
}

static int add_folder(struct batch_list *list, const struct batch_defaults *defaults, const char *path,
                      char *error, size_t error_size)
{
    struct dirent **entry = NULL;
    char file[4500];
    int status = 0;
    const int count = scandir(path, &entry, is_wanted, by_name);
    const size_t length = strlen(path);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%.4000s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                 entry[i]->d_name);
        const struct row row = {path, defaults->problem, file, file, NULL};
        if (status == 0)
            status = add_row(list, defaults, &row, error, error_size);
        free(entry[i]);
    }
    free(entry);
    if (count > 0)
        return status;
    snprintf(error, error_size,
             "%s holds no candidate; expected files with the suffixes .c, .cpp, .cc, .cxx, .cu, .so or .py\n"
             "---> name the files, or give a folder that is one candidate as \"file\" in --list",
             path);
    return -1;
}

int batch_list_add(struct batch_list *list, const struct batch_defaults *defaults, const char *path,
                   char *error, size_t error_size)
{
    struct stat status;
    const struct row row = {"the command line", defaults->problem, path, path, NULL};
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return add_folder(list, defaults, path, error, error_size);
    return add_row(list, defaults, &row, error, error_size);
}

/* --- lists --- */

/* The name of a key that no row has; NULL: there is none. */
static const char *strange_key(json_t *object)
{
    static const char *const known[] = {"problem", "file", "id", "options"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < 4 && strcmp(key, known[i]) != 0)
            i++;
        if (i == 4 || (i < 3 ? !json_is_string(value) : !json_is_object(value)))
            return key;
    }
    return NULL;
}

static int read_row(struct batch_list *list, const struct batch_defaults *defaults, const char *line,
                    const char *where, char *error, size_t error_size)
{
    json_error_t why;
    char found[200];
    json_t *const object = json_loads(line, JSON_REJECT_DUPLICATES, &why);
    const char *const strange = json_is_object(object) ? strange_key(object) : NULL;
    struct row row = {.where = where};
    int status = -1;
    if (!json_is_object(object) || strange) {
        snprintf(found, sizeof found, "%s%.60s%s", strange ? "the key '" : "a line that is no JSON object",
                 strange ? strange : "", strange ? "', or another type of its value" : "");
        refuse(&row, found,
               "\"problem\", \"file\" and \"id\" as texts and \"options\" as an object\n---> for example "
               "{\"problem\": \"softmax\", \"file\": \"kernel.c\", \"options\": {\"seed\": 5}}",
               error, error_size);
    } else {
        const char *const problem = json_string_value(json_object_get(object, "problem"));
        const char *const id = json_string_value(json_object_get(object, "id"));
        row.file = json_string_value(json_object_get(object, "file"));
        row.problem = problem ? problem : defaults->problem;
        row.id = id ? id : row.file;
        row.options = json_object_get(object, "options");
        status = add_row(list, defaults, &row, error, error_size);
    }
    json_decref(object);
    return status;
}

int batch_list_read(struct batch_list *list, const struct batch_defaults *defaults, const char *path,
                    char *error, size_t error_size)
{
    char where[1100], *line = NULL;
    size_t room = 0;
    int status = 0;
    FILE *const in = fopen(path, "re");
    if (!in) {
        snprintf(error, error_size, "cannot read %s: %s; expected a list of JSON lines\n---> check the path",
                 path, strerror(errno));
        return -1;
    }
    for (int number = 1; status == 0 && getline(&line, &room, in) >= 0; number++) {
        snprintf(where, sizeof where, "%.1000s:%d", path, number);
        if (line[strspn(line, " \t\r\n")] != '\0')
            status = read_row(list, defaults, line, where, error, error_size);
    }
    free(line);
    fclose(in);
    return status;
}

void batch_list_clear(struct batch_list *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->item[i].id);
        free(list->item[i].problem);
        free(list->item[i].file);
        json_decref(list->item[i].words);
    }
    free(list->item);
    json_decref(list->ids);
    *list = (struct batch_list){.count = 0};
}
