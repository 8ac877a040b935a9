#include "space_internal.h"
#include "problems/suggest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int space_fail(struct space_error *error, const char *format, ...)
{
    if (error) {
        error->environment = false;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return -1;
}

/* Classifies a failure by its errno: input, or environment (memory, descriptors, I/O). Returns -1, like
 * space_fail. */
static int blame(struct space_error *error, int reason)
{
    if (error)
        error->environment = reason == ENOMEM || reason == EMFILE || reason == ENFILE || reason == EIO;
    return -1;
}

/* --- text --- */

const char *text_skip(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static bool read_digits(const char **p, int64_t *number)
{
    const char *q = *p;
    int64_t value = 0;
    if (*q < '0' || *q > '9')
        return false;
    for (; *q >= '0' && *q <= '9'; q++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *q - '0', &value))
            return false;
    *p = q;
    *number = value;
    return true;
}

bool read_number(const char **p, int64_t *number)
{
    const char *q = *p;
    int64_t base, exponent = 1, value = 1;
    if (!read_digits(&q, &base))
        return false;
    if (*q == '^') {
        q++;
        if (!read_digits(&q, &exponent))
            return false;
        if (base < 2 && exponent > 1)
            exponent = 1; /* 0^e and 1^e need no loop of e steps; 0^0 stays 1 */
    }
    while (exponent-- > 0)
        if (__builtin_mul_overflow(value, base, &value))
            return false;
    *p = q;
    *number = value;
    return true;
}

bool text_word(const char **p, char word[WORD_SIZE])
{
    size_t length = strspn(*p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (length == 0 || length >= WORD_SIZE)
        return false;
    memcpy(word, *p, length);
    word[length] = '\0';
    *p += length;
    return true;
}

/* Cuts off the comment and trailing blanks of `line`; false if nothing is left. */
static bool trim_line(char *line)
{
    size_t length = strcspn(line, "#\n");
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        length--;
    line[length] = '\0';
    return *text_skip(line) != '\0';
}

/* Skips the byte order mark with which some editors begin a file. */
static char *text_marked(char *line, int number)
{
    static const char mark[] = "\xef\xbb\xbf";
    return line + (number == 1 && strncmp(line, mark, strlen(mark)) == 0 ? strlen(mark) : 0);
}

int lines_each(const char *path, bool optional, line_handler *handle, void *state, struct space_error *error)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, where[256];
    size_t size = 0;
    int number = 0, result = 0;
    ssize_t length;

    if (!file && optional && errno == ENOENT)
        return 0;
    int reason = errno;
    if (!file) {
        space_fail(error,
                   "%s: cannot be read (%s); a readable file was expected\n"
                   "---> check the path and its permissions",
                   path, strerror(reason));
        return blame(error, reason);
    }
    errno = 0;
    while (result == 0 && (length = getline(&line, &size, file)) >= 0) {
        const char *const mark = strchr(line, '#'); /* trimming ends the line there */
        snprintf(where, sizeof where, "%.200s:%d", path, ++number);
        if (strlen(line) != (size_t)length)
            result = space_fail(error,
                                "%s: a NUL byte; a text file was expected\n"
                                "---> give a file of lines",
                                where);
        else if (trim_line(text_marked(line, number)))
            result = handle(state, text_marked(line, number), mark ? mark + 1 : "", where, error);
    }
    reason = errno;
    if (result == 0 &&
        /* reading a directory fails here, after it was opened; so does running out of memory, which would
         * lose lines */
        !feof(file))
        result = space_fail(error,
                            "%s: cannot be read (%s); a text file was expected\n"
                            "---> give a file of lines",
                            path, strerror(reason));
    if (result != 0)
        blame(error, reason);
    free(line);
    fclose(file);
    return result;
}

/* --- names for error texts --- */

static void join(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

void axis_names(const struct problem *problem, char *text, size_t size)
{
    *text = '\0';
    for (const struct axis *axis = problem->axes; axis->name; axis++)
        join(text, size, axis->name);
}

void choice_names(const struct problem *problem, int axis, char *text, size_t size)
{
    const char *choice;
    *text = '\0';
    for (int i = 0; (choice = problem_choice(problem, axis, i)) != NULL; i++)
        join(text, size, choice);
}

const char *suggest_axis(const struct problem *problem, const char *word, char *text, size_t size)
{
    struct suggestion near = {.word = word};
    for (const struct axis *axis = problem->axes; axis->name; axis++)
        suggest_offer(&near, axis->name);
    return suggest_text(&near, text, size);
}

const char *suggest_choice(const struct problem *problem, int axis, const char *word, char *text, size_t size)
{
    struct suggestion near = {.word = word};
    const char *choice;
    for (int i = 0; (choice = problem_choice(problem, axis, i)) != NULL; i++)
        suggest_offer(&near, choice);
    return suggest_text(&near, text, size);
}

/* --- configuration lines --- */

struct line_reader {
    struct config *config;
    const char *where;
    struct space_error *error;
    bool given[PROBLEM_MAX_AXES], seed_given;
};

static int read_seed(struct line_reader *reader, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return space_fail(reader->error,
                          "%s: seed=%.40s; a number below 2^64 was expected\n"
                          "---> write the seed as digits, seed=91",
                          reader->where, text);
    if (reader->seed_given)
        return space_fail(reader->error,
                          "%s: seed is given twice; once was expected\n"
                          "---> remove one of them",
                          reader->where);
    reader->seed_given = true;
    reader->config->seed = seed;
    return 0;
}

static int read_value(struct line_reader *reader, int index, const char *text)
{
    const struct problem *problem = reader->config->problem;
    const struct axis *axis = &problem->axes[index];
    int64_t value = 0;
    if (reader->given[index])
        return space_fail(reader->error,
                          "%s: %s is given twice; once was expected\n"
                          "---> remove one of them",
                          reader->where, axis->name);
    if (axis->kind == AXIS_NUMBER) {
        const char *p = text;
        if (!read_number(&p, &value) || *p)
            return space_fail(reader->error,
                              "%s: %s=%.40s; a whole number was expected, from 0 to %lld\n"
                              "---> write it as %s=4099 or %s=2^12",
                              reader->where, axis->name, text, (long long)INT64_MAX, axis->name, axis->name);
    } else if ((value = problem_choice_index(problem, index, text)) < 0) {
        char names[200], meant[80];
        choice_names(problem, index, names, sizeof names);
        return space_fail(reader->error,
                          "%s: %s=%.40s%s; expected one of %s\n"
                          "---> choose one of these, or leave %s out for %s",
                          reader->where, axis->name, text,
                          suggest_choice(problem, index, text, meant, sizeof meant), names, axis->name,
                          problem_choice(problem, index, 0));
    }
    reader->given[index] = true;
    reader->config->value[index] = value;
    return 0;
}

static int read_pair(struct line_reader *reader, char *pair)
{
    const struct problem *problem = reader->config->problem;
    char *equals = strchr(pair, '=');
    if (!equals || equals == pair || !equals[1])
        return space_fail(reader->error,
                          "%s: '%.60s'; a pair axis=value was expected\n"
                          "---> write pairs separated by blanks, without blanks "
                          "around '='",
                          reader->where, pair);
    *equals = '\0';
    if (strcmp(pair, "seed") == 0)
        return read_seed(reader, equals + 1);
    int index = problem_axis_index(problem, pair);
    if (index >= 0)
        return read_value(reader, index, equals + 1);
    char names[200], meant[80];
    axis_names(problem, names, sizeof names);
    return space_fail(reader->error,
                      "%s: unknown axis '%.40s'%s; %s has %s and seed\n"
                      "---> correct the name",
                      reader->where, pair, suggest_axis(problem, pair, meant, sizeof meant), problem->name,
                      names);
}

static int check_numbers_given(struct line_reader *reader)
{
    const struct axis *axes = reader->config->problem->axes;
    for (int i = 0; axes[i].name; i++)
        if (axes[i].kind == AXIS_NUMBER && !reader->given[i])
            return space_fail(reader->error,
                              "%s: %s is missing; a value for every number axis was "
                              "expected\n---> add %s=VALUE",
                              reader->where, axes[i].name, axes[i].name);
    return 0;
}

int config_parse(struct config *config, const struct problem *problem, const char *line, const char *where,
                 struct space_error *error)
{
    struct line_reader reader = {.config = config, .where = where, .error = error};
    char *rest, *copy = strdup(line);
    int result = 0;
    if (!copy) {
        space_fail(error, "%s: out of memory", where);
        return blame(error, ENOMEM);
    }
    *config = (struct config){.problem = problem};
    copy[strcspn(copy, "#")] = '\0';
    for (char *pair = strtok_r(copy, " \t\r\n", &rest); pair && result == 0;
         pair = strtok_r(NULL, " \t\r\n", &rest))
        result = read_pair(&reader, pair);
    free(copy);
    return result ? result : check_numbers_given(&reader);
}

int config_format(const struct config *config, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; config->problem->axes[i].name; i++) {
        const struct axis *axis = &config->problem->axes[i];
        char *at = used < size ? text + used : NULL;
        size_t room = used < size ? size - used : 0;
        if (axis->kind == AXIS_NUMBER)
            used += (size_t)snprintf(at, room, "%s=%lld ", axis->name, (long long)config->value[i]);
        else
            used += (size_t)snprintf(at, room, "%s=%s ", axis->name,
                                     problem_choice(config->problem, i, config->value[i]));
    }
    used += (size_t)snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "seed=%llu",
                             (unsigned long long)config->seed);
    return (int)used;
}

bool config_same_point(const struct config *a, const struct config *b)
{
    size_t axes = (size_t)problem_axis_count(a->problem);
    return a->problem == b->problem && memcmp(a->value, b->value, axes * sizeof *a->value) == 0;
}

bool config_equal(const struct config *a, const struct config *b)
{
    return config_same_point(a, b) && a->seed == b->seed;
}
