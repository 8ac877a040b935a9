#include "json_read_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/record/text.h"

enum { MOST_BYTES = 1 << 30 };

#define EXPECTED "the JSON result of `unseen verify`"
#define GIVE_ONE "---> give the file that `unseen verify --json FILE` wrote"

/* ---- The file ---- */

/* Reads the whole file and appends a NUL. NULL with a message on errors. */
static char *read_all(struct reading *r, size_t *length)
{
    const bool standard = strcmp(r->path, "-") == 0;
    FILE *in = standard ? stdin : fopen(r->path, "re");
    size_t room = 1 << 16;
    char *text = NULL;

    int reason = in == NULL ? errno : 0;

    *length = 0;
    for (size_t got = 1; in != NULL && got > 0 && *length < MOST_BYTES; *length += got) {
        char *const grown = *length + 1 < room && text != NULL ? text : realloc(text, room *= 2);

        if (grown == NULL) {
            free(text);
            text = NULL;
            break;
        }
        text = grown;
        got = fread(text + *length, 1, room - *length - 1, in);
    }
    if (in != NULL && ferror(in))
        reason = errno;
    if (in != NULL && !standard)
        fclose(in);
    if (in != NULL && reason == 0 && text != NULL && *length < MOST_BYTES) {
        text[*length] = '\0';
        return text;
    }
    snprintf(r->error, r->error_size, "%s: cannot read the result: %s\n%s", r->path,
             reason != 0    ? strerror(reason)
             : text == NULL ? "out of memory"
                            : "more than 1 GB, which no result has",
             GIVE_ONE);
    free(text);
    return NULL;
}

/* Is the document a truncated object? The cut may lie inside a word, which a parser cannot tell from a wrong
 * word. */
static bool is_cut_off(const json_error_t *where, const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    return text[strspn(text, " \t\r\n")] == '{' &&
           (text[length - 1] != '}' || json_error_code(where) == json_error_premature_end_of_input);
}

static void fail_parsing(struct reading *r, const json_error_t *where, const char *text, size_t length)
{
    if (text[strspn(text, " \t\r\n")] == '\0')
        snprintf(r->error, r->error_size, "%s: it is empty; expected %s\n%s", r->path, EXPECTED, GIVE_ONE);
    else if (is_cut_off(where, text, length))
        snprintf(r->error, r->error_size,
                 "%s:%d: it ends in the middle of an object; expected %s\n"
                 "---> it was cut off (a full disk, a copy that was stopped): copy or write it again",
                 r->path, where->line, EXPECTED);
    else
        snprintf(r->error, r->error_size, "%s:%d: not JSON from column %d on; expected %s\n%s", r->path,
                 where->line, where->column, EXPECTED, GIVE_ONE);
}

/* Is it a result of this tool, with a schema that this code knows? */
static bool check_kind(struct reading *r, const json_t *json)
{
    const json_t *schema = json_object_get(json, "schema");
    const char *version = json_string_value(json_object_get(json_object_get(json, "tool"), "version"));
    char plain[34] = "";

    if (json_is_integer(schema) && json_integer_value(schema) != SCHEMA_NUMBER) {
        if (version != NULL && strlen(version) < sizeof plain - 1 &&
            version[strspn(version, "0123456789.")] == '\0')
            snprintf(plain, sizeof plain, " %s", version);
        snprintf(r->error, r->error_size,
                 "%s: schema %" JSON_INTEGER_FORMAT "; expected schema %d\n"
                 "---> read it with the version of unseen that wrote it%s, or write it again with this one",
                 r->path, json_integer_value(schema), SCHEMA_NUMBER, plain);
        return false;
    }
    if (json_is_integer(schema) && json_is_string(json_object_get(json, "verdict")) &&
        json_is_object(json_object_get(json, "seen")) && json_is_object(json_object_get(json, "unseen")) &&
        json_is_array(json_object_get(json, "results")))
        return true;
    snprintf(r->error, r->error_size, "%s: JSON without `%s`; expected %s\n%s", r->path,
             json_is_integer(schema) ? "verdict`, `seen`, `unseen` and `results" : "schema", EXPECTED,
             GIVE_ONE);
    return false;
}

/* The values of a configuration need the axes, which lie behind it. */
static enum json_read_status read_document(struct reading *r, const json_t *json,
                                           struct stored_result *stored)
{
    json_read_axes(r, json, json_read_text(r, json, "problem"));
    stored->problem = r->problem;
    json_read_record(r, &result_record, json, &stored->result);
    if (!r->no_memory)
        return r->failed ? JSON_READ_INPUT : JSON_READ_OK;
    snprintf(r->error, r->error_size, "%s: cannot read the result: out of memory\n---> close other programs",
             r->path);
    return JSON_READ_ENVIRONMENT;
}

enum json_read_status json_read(const char *path, struct stored_result *stored, char *error,
                                size_t error_size)
{
    struct reading r = {.path = path, .error = error, .error_size = error_size};
    enum json_read_status status = JSON_READ_INPUT;
    json_error_t where;
    size_t length;
    char *text;

    *stored = (struct stored_result){0};
    text = read_all(&r, &length);
    if (text == NULL)
        return JSON_READ_INPUT;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (json == NULL)
        fail_parsing(&r, &where, text, length);
    free(text);
    stored->document = json;
    r.document = json;
    if (json != NULL && check_kind(&r, json))
        status = read_document(&r, json, stored);
    if (status != JSON_READ_OK)
        json_read_free(stored);
    return status;
}

void json_read_free(struct stored_result *stored)
{
    free(stored->result.results);
    free(stored->result.finding);
    free(stored->problem);
    free((void *)stored->result.check_options);
    json_decref(stored->document);
    *stored = (struct stored_result){0};
}
