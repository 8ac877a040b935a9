#include "space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint.h"
#include "space_internal.h"

struct reader {
    struct space *space;
    bool given[PROBLEM_MAX_AXES];
    char where[256]; /* the last line read, where a missing axis is reported */
};

/* The axis line being parsed, with the context of error messages. */
struct axis_line {
    const struct problem *problem;
    int axis;
    const char *where;
    struct space_error *error;
};

static bool add_value(struct domain *domain, int64_t value)
{
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] == value)
            return false;
    domain->value[domain->value_count++] = value;
    return true;
}

static int fail_line(const struct axis_line *line, const char *found, const char *expected)
{
    const char *name = line->problem->axes[line->axis].name;
    if (line->problem->axes[line->axis].kind == AXIS_CHOICE)
        return space_fail(line->error,
                          "%s: %s: found '%.40s'; expected %s\n---> write the legal "
                          "choices after the name, '%s %s'",
                          line->where, name, found, expected, name,
                          problem_choice(line->problem, line->axis, 0));
    return space_fail(line->error,
                      "%s: %s: found '%.40s'; expected %s\n---> write '%s 1..4096 tile "
                      "32 128', '%s 64 80 96' or '%s = 4096'",
                      line->where, name, found, expected, name, name, name);
}

/* Reads "low..high". *found: the text was a range. */
static int read_range(struct domain *domain, const char **p, const struct axis_line *line, bool *found)
{
    const char *start = *p;
    int64_t low, high;
    if (!read_number(p, &low))
        return fail_line(line, start, "a range low..high or a list of numbers");
    *p = text_skip(*p);
    if (strncmp(*p, "..", 2) != 0) {
        *p = start;
        return 0; /* it is a list; the caller reads it */
    }
    *p = text_skip(*p + 2);
    if (!read_number(p, &high))
        return fail_line(line, *p, "the greatest value after '..'");
    if (low < 1 && !line->problem->axes[line->axis].empty)
        return fail_line(line, start, "a range from 1 or more: this extent is never empty");
    if (low > high)
        return fail_line(line, start, "a range that is not empty");
    domain->low = low;
    domain->high = high;
    *found = true;
    return 0;
}

/* Reads numbers into `value` (at most `most`), up to the end of the line or the word `tile`. */
static int read_numbers(int64_t *value, int *count, int most, const char **p, const struct axis_line *line)
{
    for (*p = text_skip(*p); **p && strncmp(*p, "tile", 4) != 0; *p = text_skip(*p)) {
        const char *start = *p;
        int64_t number;
        if (!read_number(p, &number) || (**p && !strchr(" \t", **p)))
            return fail_line(line, start, "a number");
        if (*count == most)
            return fail_line(line, start, "fewer numbers");
        value[(*count)++] = number;
    }
    return 0;
}

static void sort_values(struct domain *domain)
{
    for (int i = 1; i < domain->value_count; i++)
        for (int j = i; j > 0 && domain->value[j - 1] > domain->value[j]; j--) {
            int64_t swapped = domain->value[j];
            domain->value[j] = domain->value[j - 1];
            domain->value[j - 1] = swapped;
        }
    domain->low = domain->value[0];
    domain->high = domain->value[domain->value_count - 1];
}

static int read_list(struct domain *domain, const char **p, const struct axis_line *line)
{
    const char *start = *p;
    int64_t number[SPACE_MAX_VALUES];
    int count = 0;
    if (read_numbers(number, &count, SPACE_MAX_VALUES, p, line))
        return -1;
    for (int i = 0; i < count; i++)
        if (!add_value(domain, number[i]))
            return fail_line(line, start, "every value once");
    if (count == 0)
        return fail_line(line, start, "a range low..high or a list of numbers");
    sort_values(domain);
    return 0;
}

static int read_tiles(struct domain *domain, const char **p, const struct axis_line *line)
{
    const char *start = *p;
    if (strncmp(*p, "tile", 4) != 0 || (p[0][4] && !strchr(" \t", p[0][4])))
        return **p ? fail_line(line, *p, "'tile' or the end of the line") : 0;
    *p += 4;
    if (read_numbers(domain->tile, &domain->tile_count, SPACE_MAX_TILES, p, line))
        return -1;
    if (**p || domain->tile_count == 0)
        return fail_line(line, start, "tile sizes after one 'tile'");
    for (int i = 0; i < domain->tile_count; i++)
        if (domain->tile[i] < 1)
            return fail_line(line, start, "tile sizes of 1 or more");
    return 0;
}

static int read_number_axis(struct domain *domain, const char *p, const struct axis_line *line)
{
    bool range = false;
    if (read_range(domain, &p, line, &range))
        return -1;
    if (!range && read_list(domain, &p, line))
        return -1;
    p = text_skip(p);
    return read_tiles(domain, &p, line);
}

static int read_choice_axis(struct domain *domain, const char *p, const struct axis_line *line)
{
    char names[200], expected[240], word[WORD_SIZE];
    choice_names(line->problem, line->axis, names, sizeof names);
    snprintf(expected, sizeof expected, "one of %s", names);
    for (p = text_skip(p); *p; p = text_skip(p)) {
        const char *start = p;
        int index = text_word(&p, word) ? problem_choice_index(line->problem, line->axis, word) : -1;
        if (index < 0 || (*p && !strchr(" \t", *p)))
            return fail_line(line, start, expected);
        if (domain->value_count == SPACE_MAX_VALUES || !add_value(domain, index))
            return fail_line(line, start, "every choice once");
    }
    if (domain->value_count == 0)
        return fail_line(line, "", expected);
    domain->low = domain->high = domain->value[0];
    for (int i = 1; i < domain->value_count; i++) {
        domain->low = domain->value[i] < domain->low ? domain->value[i] : domain->low;
        domain->high = domain->value[i] > domain->high ? domain->value[i] : domain->high;
    }
    return 0;
}

static int read_constraint(struct space *space, const char *text, const char *where,
                           struct space_error *error)
{
    char why[160];
    if (space->constraint_count == SPACE_MAX_CONSTRAINTS)
        return space_fail(error,
                          "%s: one limit too many; at most %d were expected\n"
                          "---> join or remove limits",
                          where, SPACE_MAX_CONSTRAINTS);
    struct constraint *constraint = constraint_parse(space->problem, text_skip(text), why, sizeof why);
    if (!constraint)
        return space_fail(error,
                          "%s: limit: %s\n---> write a comparison over number axes, such as "
                          "'limit rows*cols <= 2^31'",
                          where, why);
    space->constraint[space->constraint_count++] = constraint;
    return 0;
}

static int fail_tolerance(const char *found, const char *where, struct space_error *error)
{
    return space_fail(error,
                      "%s: tolerance: found '%.60s'; expected atol and rtol, numbers from 0 on, once each\n"
                      "---> write 'tolerance atol=1e-3 rtol=1e-2'",
                      where, found);
}

/* Reads " atol=1e-3 rtol=1e-2", in either order. */
static int read_tolerance(struct space *space, const char *text, const char *where, struct space_error *error)
{
    static const char *const names[] = {"atol=", "rtol="};
    double value[2] = {-1, -1};
    const char *p = text_skip(text);
    if (space->tolerance.given)
        return fail_tolerance("a second line", where, error);
    while (*p) {
        const char *const start = p;
        const int i = strncmp(p, names[0], 5) == 0 ? 0 : strncmp(p, names[1], 5) == 0 ? 1 : -1;
        char *end = NULL;
        if (i < 0 || value[i] >= 0)
            return fail_tolerance(start, where, error);
        value[i] = strtod(p + 5, &end);
        if (end == p + 5 || !isfinite(value[i]) || value[i] < 0 || (*end && !strchr(" \t", *end)))
            return fail_tolerance(start, where, error);
        p = text_skip(end);
    }
    if (value[0] < 0 || value[1] < 0)
        return fail_tolerance(text_skip(text), where, error);
    space->tolerance = (struct space_tolerance){.given = true, .atol = value[0], .rtol = value[1]};
    return 0;
}

static int fail_name(const struct reader *reader, const char *line, const char *where,
                     struct space_error *error)
{
    char names[200], meant[80];
    axis_names(reader->space->problem, names, sizeof names);
    return space_fail(error,
                      "%s: unknown axis '%.40s'%s; %s has %s\n---> correct the name, or begin "
                      "the line with 'limit' or 'tolerance'",
                      where, line, suggest_axis(reader->space->problem, line, meant, sizeof meant),
                      reader->space->problem->name, names);
}

static int read_line(void *state, const char *text, const char *comment, const char *where,
                     struct space_error *error)
{
    (void)comment;
    struct reader *reader = state;
    const struct problem *problem = reader->space->problem;
    const char *p = text_skip(text);
    char name[WORD_SIZE];
    snprintf(reader->where, sizeof reader->where, "%s", where);
    if (!text_word(&p, name))
        return fail_name(reader, p, where, error);
    if (strcmp(name, "limit") == 0)
        return read_constraint(reader->space, p, where, error);
    if (strcmp(name, "tolerance") == 0 && problem_axis_index(problem, name) < 0)
        return read_tolerance(reader->space, p, where, error);
    int index = problem_axis_index(problem, name);
    if (index < 0)
        return fail_name(reader, name, where, error);
    if (reader->given[index])
        return space_fail(error,
                          "%s: %s is given twice; one line for every axis was expected\n"
                          "---> remove one of the lines",
                          where, name);
    reader->given[index] = true;
    p = text_skip(p);
    p = *p == '=' ? text_skip(p + 1) : p;
    struct axis_line line = {.problem = problem, .axis = index, .where = where, .error = error};
    struct domain *domain = &reader->space->domain[index];
    return problem->axes[index].kind == AXIS_NUMBER ? read_number_axis(domain, p, &line)
                                                    : read_choice_axis(domain, p, &line);
}

static int check_axes_given(const struct reader *reader, struct space_error *error)
{
    const struct problem *problem = reader->space->problem;
    for (int i = 0; problem->axes[i].name; i++)
        if (!reader->given[i])
            return space_fail(error,
                              "%s: the file ends without %s; one line for every axis of %s "
                              "was expected\n---> add a line '%s %s'",
                              reader->where, problem->axes[i].name, problem->name, problem->axes[i].name,
                              problem->axes[i].kind == AXIS_NUMBER ? "1..4096"
                                                                   : problem_choice(problem, i, 0));
    return 0;
}

int space_read(struct space *space, const struct problem *problem, const char *path,
               struct space_error *error)
{
    struct reader reader = {.space = space};
    *space = (struct space){.problem = problem};
    snprintf(reader.where, sizeof reader.where, "%.200s:1", path); /* until the first line is read */
    if (lines_each(path, false, read_line, &reader, error) == 0 && check_axes_given(&reader, error) == 0)
        return 0;
    space_clear(space);
    return -1;
}

void space_clear(struct space *space)
{
    for (int i = 0; i < space->constraint_count; i++)
        constraint_free(space->constraint[i]);
    space->constraint_count = 0;
}

/* --- membership --- */

bool domain_contains(const struct domain *domain, int64_t value)
{
    if (domain->value_count == 0)
        return domain->low <= value && value <= domain->high;
    for (int i = 0; i < domain->value_count; i++)
        if (domain->value[i] == value)
            return true;
    return false;
}

int64_t domain_least(const struct domain *domain)
{
    return domain->value_count == 0 && domain->low == 0 && domain->high > 0 ? 1 : domain->low;
}

/* Writes "in 1..65536" or "one of normal wide", truncated to fit. */
static void domain_format(const struct space *space, int axis, char *text, size_t size)
{
    const struct problem *problem = space->problem;
    const struct domain *domain = &space->domain[axis];
    if (domain->value_count == 0) {
        snprintf(text, size, "in %lld..%lld", (long long)domain->low, (long long)domain->high);
        return;
    }
    size_t used = (size_t)snprintf(text, size, domain->value_count > 1 ? "one of" : "always");
    for (int i = 0; i < domain->value_count && used < size; i++) {
        if (problem->axes[axis].kind == AXIS_NUMBER)
            used += (size_t)snprintf(text + used, size - used, " %lld", (long long)domain->value[i]);
        else
            used += (size_t)snprintf(text + used, size - used, " %s",
                                     problem_choice(problem, axis, domain->value[i]));
    }
}

static int fail_value(const struct space *space, const struct config *config, int index,
                      struct space_error *error)
{
    const struct axis *axis = &space->problem->axes[index];
    char legal[160], found[WORD_SIZE];
    domain_format(space, index, legal, sizeof legal);
    if (axis->kind == AXIS_NUMBER)
        snprintf(found, sizeof found, "%lld", (long long)config->value[index]);
    else
        snprintf(found, sizeof found, "%s", problem_choice(space->problem, index, config->value[index]));
    return space_fail(error,
                      "%s=%s; in the contract %s is %s\n---> change the value, or widen the "
                      ".space file",
                      axis->name, found, axis->name, legal);
}

bool space_contains(const struct space *space, const struct config *config, struct space_error *error)
{
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!domain_contains(&space->domain[i], config->value[i])) {
            if (error)
                fail_value(space, config, i, error);
            return false;
        }
    for (int i = 0; i < space->constraint_count; i++)
        if (!constraint_holds(space->constraint[i], config)) {
            if (error) {
                char line[400];
                config_format(config, line, sizeof line);
                space_fail(error,
                           "%s; the contract asks for %.300s\n---> change one of these values, "
                           "or the limit in the .space file",
                           line, constraint_text(space->constraint[i]));
            }
            return false;
        }
    return true;
}
