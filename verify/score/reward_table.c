#include "reward_table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 7, LINE_SIZE = 512 };

struct reading {
    const char *path;
    int line;
    struct reward_table *table;
    bool given[REWARD_EVENTS + 1]; /* the last entry is `other` */
    double other;
    bool has_over;
    char *error;
    size_t error_size;
};

static const char *event_name(int event)
{
    static const char *const name[] = {"compile", "load", "cheating", "missing", "other"};
    return event < OUTCOME_COUNT ? outcome_name((enum outcome)event) : name[event - OUTCOME_COUNT];
}

static int complain(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int complain(struct reading *r, const char *format, ...)
{
    va_list arguments;
    const int used = r->line > 0 ? snprintf(r->error, r->error_size, "%s:%d: ", r->path, r->line)
                                 : snprintf(r->error, r->error_size, "%s: ", r->path);
    va_start(arguments, format);
    if (used >= 0 && (size_t)used < r->error_size)
        vsnprintf(r->error + used, r->error_size - (size_t)used, format, arguments);
    va_end(arguments);
    return -1;
}

static bool number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static int wrong_number(struct reading *r, const char *word)
{
    return complain(r, "'%.40s'; expected a number\n---> for example `wrong -2`", word);
}

static int read_over(struct reading *r, char **word, int words)
{
    static const char *const name[] = {"mean", "median", "least"};
    for (int i = 0; words == 2 && i < 3; i++)
        if (strcmp(word[1], name[i]) == 0) {
            r->table->over = (enum reward_over)i;
            if (r->has_over)
                return complain(r, "`over` is given twice; expected one line of it\n---> leave one out");
            r->has_over = true;
            return 0;
        }
    return complain(r, "`over %.40s`; expected mean, median or least\n---> for example `over mean`",
                    words > 1 ? word[1] : "");
}

/* pass above P VALUE */
static int read_step(struct reading *r, char **word)
{
    struct reward_table *const t = r->table;
    double above, value;
    if (!number(word[2], &above) || !number(word[3], &value))
        return wrong_number(r, number(word[2], &above) ? word[3] : word[2]);
    if (t->steps == REWARD_STEPS)
        return complain(r, "more than %d lines `pass above`; expected %d at most\n---> leave some out",
                        REWARD_STEPS, REWARD_STEPS);
    if (t->steps > 0 && above <= t->step[t->steps - 1].above)
        return complain(r, "`pass above %g` after %g; expected thresholds that grow\n---> sort these lines",
                        above, t->step[t->steps - 1].above);
    t->step[t->steps].above = above;
    t->step[t->steps++].value = value;
    return 0;
}

/* pass VALUE, pass VALUE + FACTOR * QUANTITY */
static int read_pass(struct reading *r, char **word, int words)
{
    static const char *const name[] = {"", "speedup", "log2_speedup", "fraction"};
    struct reward_table *const t = r->table;
    if (words == 4 && strcmp(word[1], "above") == 0)
        return read_step(r, word);
    if (r->given[OUTCOME_PASS])
        return complain(r, "`pass` is given twice; expected one line of it\n---> leave one out");
    r->given[OUTCOME_PASS] = true;
    if (words > 1 && !number(word[1], &t->offset))
        return wrong_number(r, word[1]);
    if (words == 2)
        return 0;
    if (words == 6 && strcmp(word[2], "+") == 0 && strcmp(word[4], "*") == 0) {
        if (!number(word[3], &t->factor))
            return wrong_number(r, word[3]);
        for (int i = REWARD_SPEEDUP; i <= REWARD_FRACTION; i++)
            if (strcmp(word[5], name[i]) == 0) {
                t->quantity = (enum reward_quantity)i;
                return 0;
            }
        return complain(r,
                        "'%.40s'; expected speedup, log2_speedup or fraction\n"
                        "---> for example `pass -1 + 1 * speedup`",
                        word[5]);
    }
    return complain(r,
                    "`pass` and %d words; expected `pass VALUE`, `pass VALUE + FACTOR * QUANTITY` or "
                    "`pass above SPEEDUP VALUE`\n---> with blanks between all words",
                    words - 1);
}

static int read_event(struct reading *r, char **word, int words)
{
    double value;
    for (int i = OUTCOME_PASS + 1; i <= REWARD_EVENTS; i++) {
        if (strcmp(word[0], event_name(i)) != 0)
            continue;
        if (words != 2)
            return complain(r, "`%s` and %d words; expected one number\n---> for example `%s -2`", word[0],
                            words - 1, word[0]);
        if (!number(word[1], &value))
            return wrong_number(r, word[1]);
        if (r->given[i])
            return complain(r, "`%s` is given twice; expected one line of it\n---> leave one out", word[0]);
        r->given[i] = true;
        *(i == REWARD_EVENTS ? &r->other : &r->table->value[i]) = value;
        return 0;
    }
    return complain(r,
                    "'%.40s'; expected over, pass, an outcome (wrong, crash, timeout, ..), compile, load, "
                    "cheating, missing or other\n---> doc/formats.md has the list",
                    word[0]);
}

static int read_line(struct reading *r, char *text)
{
    char *word[WORDS], *state = NULL;
    int words = 0;
    text[strcspn(text, "#")] = '\0';
    for (char *w = strtok_r(text, " \t\r\n", &state); w && words < WORDS;
         w = strtok_r(NULL, " \t\r\n", &state))
        word[words++] = w;
    if (words == 0)
        return 0;
    if (strcmp(word[0], "over") == 0)
        return read_over(r, word, words);
    return strcmp(word[0], "pass") == 0 ? read_pass(r, word, words) : read_event(r, word, words);
}

static int upside_down(struct reading *r, const char *pass, double value, int event)
{
    return complain(
        r,
        "`%s` is worth %g, less than `%s` with %g; expected a pass to be worth no less than any failure\n"
        "---> raise the one or lower the other",
        pass, value, event_name(event), r->table->value[event]);
}

/* Rejects a table where a failure is worth more than a pass. A value that depends on times has a lower bound
 * instead (reward_table_pass). */
static int upright(struct reading *r)
{
    const struct reward_table *const t = r->table;
    for (int i = OUTCOME_PASS + 1; i < REWARD_EVENTS; i++) {
        if (t->quantity == REWARD_CONSTANT && t->offset < t->value[i])
            return upside_down(r, "pass", t->offset, i);
        for (int k = 0; k < t->steps; k++)
            if (t->step[k].value < t->value[i])
                return upside_down(r, "pass above", t->step[k].value, i);
    }
    return 0;
}

/* Every outcome needs a value, so that a run has no event that the table lacks. */
static int complete(struct reading *r)
{
    r->line = 0;
    if (!r->given[OUTCOME_PASS])
        return complain(r, "no line `pass`; expected what a configuration that passes is worth\n"
                           "---> for example `pass 1`");
    for (int i = OUTCOME_PASS + 1; i < REWARD_EVENTS; i++) {
        if (!r->given[i] && !r->given[REWARD_EVENTS])
            return complain(r,
                            "no value of `%s`; expected one of everything that can happen\n"
                            "---> a line `other VALUE` stands for all that are not named",
                            event_name(i));
        if (!r->given[i])
            r->table->value[i] = r->other;
    }
    return upright(r);
}

int reward_table_read(const char *path, struct reward_table *table, char *error, size_t error_size)
{
    struct reading r = {.path = path, .table = table, .error = error, .error_size = error_size};
    char text[LINE_SIZE];
    int status = 0;
    *table = (struct reward_table){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return complain(&r, "cannot read the table of rewards: %s; expected a text file\n---> check the path",
                        strerror(errno));
    while (status == 0 && fgets(text, sizeof text, file)) {
        r.line++;
        const char *const mark = "\xef\xbb\xbf"; /* byte order mark that some editors write */
        const bool marked = r.line == 1 && strncmp(text, mark, 3) == 0;
        if (strlen(text) == sizeof text - 1 && text[sizeof text - 2] != '\n')
            status = complain(&r,
                              "a line above %d characters; expected shorter ones\n---> check that this is "
                              "a table of rewards",
                              LINE_SIZE - 2);
        else
            status = read_line(&r, text + (marked ? 3 : 0));
    }
    const int trouble = ferror(file) ? errno : 0;
    fclose(file);
    r.line = trouble ? 0 : r.line;
    if (status == 0 && trouble)
        return complain(&r, "cannot read the table of rewards: %s; expected a text file\n---> check the path",
                        strerror(trouble));
    return status == 0 ? complete(&r) : status;
}

bool reward_table_compares(const struct reward_table *table)
{
    return table->steps > 0 || table->quantity == REWARD_SPEEDUP || table->quantity == REWARD_LOG2_SPEEDUP;
}

bool reward_table_is_timed(const struct reward_table *table)
{
    return reward_table_compares(table) || table->quantity == REWARD_FRACTION;
}

double reward_table_failure(const struct reward_table *table)
{
    double most = -INFINITY;
    for (int i = OUTCOME_PASS + 1; i < REWARD_EVENTS; i++)
        most = fmax(most, table->value[i]);
    return most;
}

/* Speedups and fractions are above 0; the logarithm of a speedup may be any number. */
double reward_table_least(const struct reward_table *table)
{
    double least = table->offset;
    if (table->quantity != REWARD_CONSTANT && (table->factor < 0 || table->quantity == REWARD_LOG2_SPEEDUP) &&
        table->factor != 0)
        least = -INFINITY;
    for (int i = 0; i < table->steps; i++)
        least = fmin(least, table->step[i].value);
    return fmax(least, reward_table_failure(table));
}

static double worth(const struct reward_table *table, double speedup, double fraction)
{
    for (int i = table->steps - 1; i >= 0; i--)
        if (speedup > table->step[i].above)
            return table->step[i].value;
    switch (table->quantity) {
    case REWARD_SPEEDUP: return table->offset + table->factor * speedup;
    case REWARD_LOG2_SPEEDUP: return table->offset + table->factor * log2(speedup);
    case REWARD_FRACTION: return table->offset + table->factor * fraction;
    default: return table->offset;
    }
}

double reward_table_pass(const struct reward_table *table, double speedup, double fraction)
{
    return fmax(worth(table, speedup, fraction), reward_table_failure(table));
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double reward_table_over(const struct reward_table *table, double *reward, int count)
{
    double sum = 0;
    qsort(reward, (size_t)count, sizeof *reward, ascending);
    if (table->over == REWARD_LEAST)
        return reward[0];
    if (table->over == REWARD_MEDIAN)
        return (reward[(count - 1) / 2] + reward[count / 2]) / 2;
    for (int i = 0; i < count; i++)
        sum += reward[i];
    return sum / count;
}
