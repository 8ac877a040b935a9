#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/build/scratch.h"

/* --- from a result --- */

static json_t *text_or_null(const json_t *value)
{
    return json_is_string(value) ? json_string(json_string_value(value)) : json_null();
}

/* The values of the scores of both sets, by the names of the result. */
static json_t *scores_of(const json_t *result)
{
    static const char *const sets[] = {"seen", "unseen"};
    const json_t *const scores = json_object_get(result, "scores");
    json_t *const out = json_object(), *score;
    const char *name;
    for (int i = 0; i < 2; i++) {
        json_t *const values = json_object();
        json_object_foreach(json_object_get(scores, sets[i]), name, score)
        {
            json_object_set(values, name, json_object_get(score, "value"));
        }
        json_object_set_new(out, sets[i], values);
    }
    return out;
}

/* The first configuration that neither passes nor was skipped. */
static const json_t *first_failure(const json_t *result)
{
    const json_t *config;
    size_t i;
    json_array_foreach(json_object_get(result, "results"), i, config)
    {
        const char *const outcome = json_string_value(json_object_get(config, "outcome"));
        if (outcome && strcmp(outcome, "pass") != 0 && strcmp(outcome, "skipped") != 0)
            return config;
    }
    return NULL;
}

/* Adds the failure that was explained, else the first one. Evidence of cheating comes before. */
static void add_failure(json_t *line, const json_t *result)
{
    const json_t *const diagnosis = json_object_get(result, "diagnosis");
    const json_t *const failure = json_is_object(diagnosis) ? diagnosis : first_failure(result);
    const json_t *const finding = json_array_get(json_object_get(result, "findings"), 0);
    const json_t *const evidence = json_object_get(finding, "evidence");
    const json_t *const partial = json_object_get(result, "partial_reason");
    json_object_set_new(line, "outcome", text_or_null(json_object_get(failure, "outcome")));
    json_object_set_new(line, "reason",
                        text_or_null(json_is_string(evidence) ? evidence
                                     : failure                ? json_object_get(failure, "detail")
                                                              : partial));
}

static void add_result(json_t *line, const json_t *result)
{
    const json_t *const candidate = json_object_get(result, "candidate");
    const json_t *const rule = json_object_get(result, "rule");
    json_object_set(line, "verdict", json_object_get(result, "verdict"));
    json_object_set_new(line, "rule", text_or_null(json_object_get(rule, "text")));
    json_object_set_new(line, "minimal", text_or_null(json_object_get(result, "minimal")));
    add_failure(line, result);
    json_object_set_new(line, "scores", scores_of(result));
    json_object_set(line, "seed", json_object_get(result, "seed"));
    json_object_set_new(line, "sha256", text_or_null(json_object_get(candidate, "sha256")));
}

static void add_reason(json_t *line, const struct batch_end *end)
{
    static const char *const none[] = {"rule", "minimal", "outcome", "scores", "seed", "sha256"};
    json_object_set_new(line, "verdict", end->status == 2 ? json_null() : json_string("inconclusive"));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        json_object_set_new(line, none[i], json_null());
    json_object_set_new(line, "reason", json_string(end->reason));
}

json_t *batch_line(const struct batch_item *item, const struct batch_end *end)
{
    json_t *const line = json_object();
    json_object_set_new(line, "id", json_string(item->id));
    json_object_set_new(line, "problem", json_string(item->problem));
    json_object_set_new(line, "file", json_string(item->file));
    if (end->reason)
        add_reason(line, end);
    else
        add_result(line, end->result);
    json_object_set_new(line, "status", end->status < 0 ? json_null() : json_integer(end->status));
    json_object_set_new(line, "seconds", json_real(end->seconds));
    json_object_set_new(line, "attempts", json_integer(end->attempts));
    json_object_set_new(line, "result", end->path ? json_string(end->path) : json_null());
    json_object_set(line, "options", item->words);
    return line;
}

const char *batch_line_verdict(const json_t *line)
{
    return json_string_value(json_object_get(line, "verdict"));
}

bool batch_line_is_lost(const json_t *line)
{
    const json_t *const status = json_object_get(line, "status");
    return !json_is_integer(status) || json_integer_value(status) > 2;
}

/* --- reading a file to go on with it --- */

struct resuming {
    const struct batch_list *list;
    json_t **line;
    char where[1100];
    char *error;
    size_t error_size;
};

static int differs(const struct resuming *r, const char *what, const char *found, const char *expected)
{
    snprintf(r->error, r->error_size,
             "%s: found the %s %.300s; expected %.300s, as in this batch\n"
             "---> --resume takes the list and options that the file was begun with; give another --out for "
             "others",
             r->where, what, found, expected);
    return -1;
}

static int compare_texts(const struct resuming *r, const json_t *line, const char *key, const char *expected)
{
    const char *const found = json_string_value(json_object_get(line, key));
    return found && strcmp(found, expected) == 0 ? 0 : differs(r, key, found ? found : "(none)", expected);
}

static int compare_words(const struct resuming *r, const json_t *found, const json_t *expected)
{
    if (json_equal((json_t *)found, (json_t *)expected))
        return 0;
    char *const one = json_dumps(found, JSON_ENCODE_ANY), *const other = json_dumps(expected, 0);
    const int status = differs(r, "options", one ? one : "(none)", other ? other : "others");
    free(one);
    free(other);
    return status;
}

/* Has the candidate changed since its verdict? */
static int compare_content(const struct resuming *r, const json_t *line, const struct batch_item *item)
{
    struct stat status;
    char hex[65];
    const char *const found = json_string_value(json_object_get(line, "sha256"));
    if (!found || stat(item->file, &status) != 0 || !S_ISREG(status.st_mode) ||
        scratch_take(item->file, NULL, hex) != 0)
        return 0;
    return strcmp(found, hex) == 0 ? 0 : differs(r, "SHA-256", found, hex);
}

static int take_line(const struct resuming *r, json_t *line)
{
    const char *const id = json_string_value(json_object_get(line, "id"));
    int i = 0;
    while (id && i < r->list->count && strcmp(r->list->item[i].id, id) != 0)
        i++;
    if (!id || i == r->list->count)
        return differs(r, "id", id ? id : "(none)", "an id of the list");
    const struct batch_item *const item = &r->list->item[i];
    if (compare_texts(r, line, "problem", item->problem) != 0 ||
        compare_texts(r, line, "file", item->file) != 0 ||
        compare_words(r, json_object_get(line, "options"), item->words) != 0 ||
        compare_content(r, line, item) != 0)
        return -1;
    json_decref(r->line[i]);
    r->line[i] = json_incref(line); /* the last line of an id counts */
    return 0;
}

/* Is it the beginning of a line of ours? Nothing else is cut off: the path may be of another file. */
static bool is_torn(const char *text, size_t length)
{
    static const char beginning[] = "{\"id\": \"";
    const size_t known = sizeof beginning - 1;
    return strncmp(text, beginning, length < known ? length : known) == 0;
}

/* Takes all whole lines and cuts off what follows the last one. */
static int take_lines(struct resuming *r, const struct batch_file *file)
{
    char *text = NULL;
    size_t room = 0;
    off_t whole = 0;
    ssize_t length;
    int status = 0;
    FILE *const in = fopen(file->path, "re");
    for (int number = 1; in && status == 0 && (length = getline(&text, &room, in)) > 0; number++) {
        snprintf(r->where, sizeof r->where, "%.1000s:%d", file->path, number);
        if (text[length - 1] != '\n') {
            status = is_torn(text, (size_t)length) ? 0 : differs(r, "text", text, "a line of a batch");
            break;
        }
        json_t *const line = json_loads(text, 0, NULL);
        status = json_is_object(line) ? take_line(r, line) : differs(r, "text", text, "a line of a batch");
        json_decref(line);
        whole += length;
    }
    free(text);
    if (in)
        fclose(in);
    if (status == 0 && (!in || ftruncate(file->descriptor, whole) != 0)) {
        snprintf(r->error, r->error_size, "cannot go on with %s: %s\n---> check its permissions", file->path,
                 strerror(errno));
        return -2;
    }
    return status;
}

/* --- writing --- */

int batch_file_open(struct batch_file *file, const char *path, bool resume, const struct batch_list *list,
                    json_t **line, char *error, size_t error_size)
{
    struct stat status;
    struct resuming resuming = {.list = list, .line = line, .error = error, .error_size = error_size};
    *file = (struct batch_file){.descriptor = -1, .path = path};
    if (!path)
        return 0;
    file->descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0) {
        snprintf(error, error_size, "cannot write %s: %s\n---> give --out a path that can be written", path,
                 strerror(errno));
        return -2;
    }
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, error_size,
                 "%s is in use by another batch; expected a file of its own\n---> wait for that "
                 "one, or give another --out",
                 path);
        return -1;
    }
    if (resume && S_ISREG(status.st_mode))
        return take_lines(&resuming, file);
    if (status.st_size == 0)
        return 0;
    snprintf(
        error, error_size,
        "%s holds results already; expected a new file\n---> --resume goes on with them, or give another "
        "--out",
        path);
    return -1;
}

/* A part of a line that did not fit is cut off again. */
static bool append(const struct batch_file *file, const char *text, size_t length)
{
    const off_t before = lseek(file->descriptor, 0, SEEK_END);
    size_t written = 0;
    ssize_t wrote = 1;
    while (written < length && (wrote > 0 || errno == EINTR))
        if ((wrote = write(file->descriptor, text + written, length - written)) > 0)
            written += (size_t)wrote;
    if (written == length && (fdatasync(file->descriptor) == 0 || errno == EINVAL))
        return true;
    const int why = errno;
    const bool cut = before < 0 || ftruncate(file->descriptor, before) == 0 || errno == EINVAL;
    errno = cut ? why : errno;
    return false;
}

int batch_file_write(const struct batch_file *file, const json_t *line, char *error, size_t error_size)
{
    char *const text = json_dumps(line, JSON_REAL_PRECISION(12));
    const size_t length = text ? strlen(text) : 0;
    int status = -1;
    if (text && file->descriptor < 0) {
        status = puts(text) >= 0 && fflush(stdout) == 0 ? 0 : -1;
    } else if (text) {
        text[length] = '\n'; /* in place of the terminator: one write for the line and its end */
        status = append(file, text, length + 1) ? 0 : -1;
    }
    if (status != 0)
        snprintf(error, error_size,
                 "cannot write the line of %s to %s: %s\n---> free some space, then --resume goes on",
                 json_string_value(json_object_get(line, "id")), file->path ? file->path : "standard output",
                 text ? strerror(errno) : "out of memory");
    free(text);
    return status;
}

void batch_file_close(struct batch_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}
