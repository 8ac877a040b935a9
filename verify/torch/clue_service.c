#include "clue_service.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "interpreter.h"
#include "verify/build/scratch.h"
#include "verify/util/clock.h"

/* The interpreter ends itself after 10 s of CPU time (unseen_torch/clues), so that only a busy machine needs
 * more. It prints at most 2^21 characters of texts, in lines below LINE_SIZE. */
enum { CLUE_SECONDS = 60, LINE_SIZE = 1 << 22, MOST_LINES = 1 << 16, NUMBER_DIGITS = 18 };

struct reading {
    struct clue_list *list;
    embedded_text *embedded;
    void *data;
    const char *const *file; /* of this process */
    int files;
    bool begun; /* the service printed a record, so that a later end is the files' doing */
    bool failed;
};

/* --- records: the files decide what they say, so that each part is checked --- */

/* Is it in the alphabet of constraints, with numbers of 64 bits? */
static bool is_expression(const char *text)
{
    int digits = 0, open = 0;
    for (const char *c = text; *c; c++) {
        digits = *c >= '0' && *c <= '9' ? digits + 1 : 0;
        open += (*c == '(') - (*c == ')');
        if (digits > NUMBER_DIGITS || open < 0)
            return false;
    }
    return *text && open == 0 && strlen(text) < CLUE_TEXT_SIZE &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789+-*/%() ?")] ==
               '\0';
}

static bool read_side(char side[CLUE_TEXT_SIZE], const json_t *term, const char *key)
{
    const json_t *const value = json_object_get(term, key);
    const char *const text = json_string_value(value);
    if (!text || json_string_length(value) != strlen(text) || !is_expression(text))
        return false;
    strcpy(side, text);
    return true;
}

static bool read_term(struct clue_term *to, const json_t *term)
{
    const char *const relation = json_string_value(json_object_get(term, "relation"));
    for (int r = CLUE_LESS; relation && r <= CLUE_TILE; r++)
        if (strcmp(relation, clue_relation_text((enum clue_relation)r)) == 0) {
            to->relation = (enum clue_relation)r;
            return read_side(to->subject, term, "subject") && read_side(to->bound, term, "bound");
        }
    return false;
}

static void add_clue(struct reading *reading, const json_t *terms, const char *file, int line)
{
    struct clue clue = {.terms = (int)json_array_size(terms), .line = line};
    if (json_array_size(terms) < 1 || json_array_size(terms) > CLUE_MOST_TERMS)
        return;
    for (int i = 0; i < clue.terms; i++)
        if (!read_term(&clue.term[i], json_array_get(terms, (size_t)i)))
            return;
    strcpy(clue.file, file);
    reading->failed |= clue_list_add(reading->list, &clue) != 0;
}

/* Writes a file's base name in printable ASCII. */
static void name_of(char name[CLUE_FILE_SIZE], const char *path)
{
    const char *const slash = strrchr(path, '/');
    snprintf(name, CLUE_FILE_SIZE, "%.*s", CLUE_FILE_SIZE - 1, slash ? slash + 1 : path);
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* Is the record about one of the files? */
static bool find_file(const struct reading *reading, const char *said, char name[CLUE_FILE_SIZE])
{
    for (int i = 0; said && i < reading->files; i++) {
        const char *const slash = strrchr(reading->file[i], '/');
        name_of(name, reading->file[i]);
        if (slash && strcmp(slash + 1, said) == 0)
            return true;
    }
    return false;
}

static void take_record(struct reading *reading, const json_t *record)
{
    char file[CLUE_FILE_SIZE];
    const json_int_t line = json_integer_value(json_object_get(record, "line"));
    const json_t *const text = json_object_get(record, "embedded");
    if (json_is_true(json_object_get(record, "truncated")))
        reading->list->truncated = true;
    if (!find_file(reading, json_string_value(json_object_get(record, "file")), file))
        return;
    reading->begun = true;
    if (line < 0 || line > INT_MAX)
        return;
    if (json_is_string(text) && reading->embedded)
        reading->embedded(reading->data, json_string_value(text), json_string_length(text), file, (int)line);
    add_clue(reading, json_object_get(record, "terms"), file, (int)line);
}

/* Reads the lines that are records. Anything else may stand between them, such as a warning. */
static void read_records(struct reading *reading, const char *path)
{
    FILE *const file = fopen(path, "re");
    char *const line = malloc(LINE_SIZE);
    reading->failed |= !file || !line;
    for (int i = 0; !reading->failed && i < MOST_LINES && fgets(line, LINE_SIZE, file); i++) {
        json_t *const record = json_loads(line, JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, NULL);
        take_record(reading, record);
        json_decref(record);
    }
    free(line);
    if (file)
        fclose(file);
}

/* --- the process --- */

/* Says in the folder of the process what the user waits for. */
static int make_lent(const char *lent)
{
    char path[700];
    if (mkdir(lent, 0755) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/.phase", lent);
    FILE *const file = fopen(path, "we");
    if (file)
        fputs("reading the candidate's code", file);
    return file ? fclose(file) : -1;
}

static int run(struct reading *reading, struct interpreter *it, char *why, size_t size)
{
    const double begun = clock_seconds();
    const enum folder_status status = interpreter_run(it, why, size);
    read_records(reading, it->log);
    if (reading->failed) {
        snprintf(why, size, "out of memory");
        return -1;
    }
    if (status == FOLDER_OK)
        return 0;
    if (status == FOLDER_INPUT && clock_seconds() - begun >= it->seconds) {
        snprintf(why, size, "the code of %.300s was not read within %g s", it->source, it->seconds);
        return -1;
    }
    reading->list->truncated |= status == FOLDER_INPUT && reading->begun;
    return status == FOLDER_INPUT && reading->begun ? 0 : -1;
}

/* Reads as many files as a process takes. */
static int read_some(struct reading *reading, struct interpreter it, const char *scratch, char *why,
                     size_t size)
{
    char lent[600], log[600];
    snprintf(lent, sizeof lent, "%s/lent", scratch);
    snprintf(log, sizeof log, "%s/log", scratch);
    it.lent = lent;
    it.log = log;
    it.source = reading->file[0];
    it.done = "read";
    it.seconds = CLUE_SECONDS;
    for (int i = 0; i < reading->files; i++)
        it.shown[i] = it.argument[i] = reading->file[i];
    if (make_lent(lent) != 0) {
        snprintf(why, size, "cannot write %s: %s\n---> free some room", lent, strerror(errno));
        return -1;
    }
    return run(reading, &it, why, size);
}

/* Takes the next files, by their absolute paths. Returns how many it looked at. */
static int take_files(struct reading *reading, char path[][PATH_MAX], const char **name,
                      const char *const *file, int files)
{
    int looked = 0;
    for (reading->files = 0; looked < files && reading->files < INTERPRETER_SHOWN; looked++)
        if (realpath(file[looked], path[reading->files])) {
            name[reading->files] = path[reading->files];
            reading->files++;
        }
    reading->file = name;
    return looked;
}

int python_clues(struct clue_list *list, const char *const *file, int files, const char *interpreter,
                 embedded_text *embedded, void *data, char *why, size_t why_size)
{
    struct interpreter it = {0};
    if (files > 0 && interpreter_find(&it, interpreter, "clues", why, why_size) != FOLDER_OK)
        return -1;
    for (int i = 0; i < files;) {
        char path[INTERPRETER_SHOWN][PATH_MAX], scratch[512];
        const char *name[INTERPRETER_SHOWN];
        struct reading reading = {.list = list, .embedded = embedded, .data = data};
        i += take_files(&reading, path, name, file + i, files - i);
        if (reading.files == 0)
            break;
        if (scratch_open(scratch, sizeof scratch, why, why_size) != BUILD_OK)
            return -1;
        const int status = read_some(&reading, it, scratch, why, why_size);
        scratch_remove(scratch);
        if (status != 0)
            return -1;
    }
    return 0;
}
