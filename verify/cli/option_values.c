#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_table.h"
#include "options_internal.h"
#include "problems/suggest.h"

static void put(const struct option_row *row, struct options *options, const void *value)
{
    memcpy((char *)options + row->field, value, row->size);
}

static uint64_t whole_number(const struct option_row *row, const struct command *command, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno || strchr(text, '-') || value < row->least || value > row->most)
        options_usage(command,
                      "--%s '%s'; expected a whole number from %llu to %llu\n---> for example --%s %s",
                      row->name, text, (unsigned long long)row->least, (unsigned long long)row->most,
                      row->name, row->example);
    return value;
}

static double seconds(const struct option_row *row, const struct command *command, const char *text)
{
    enum { DAY = 86400 };
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || value > DAY)
        options_usage(command, "--%s '%s'; expected seconds above 0 and at most %d\n---> for example --%s %s",
                      row->name, text, DAY, row->name, row->example);
    return value;
}

/* A number and a power of 1024. */
static double size_in_bytes(const struct option_row *row, const struct command *command, const char *text)
{
    static const char units[] = "KMGT";
    static const double most = 0x1p50;
    const double least = (double)row->least * 0x1p20;
    char *end;
    double value = strtod(text, &end);
    const char *const unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        value = ldexp(value, 10 * (int)(unit - units + 1));
    if (end == text || (*end && (!unit || end[1])) || !(value >= least && value <= most))
        options_usage(command,
                      "--%s '%s'; expected a number with K, M, G or T (powers of 1024), from %dM to 1024T\n"
                      "---> for example --%s 8G",
                      row->name, text, (int)row->least, row->name);
    return value;
}

static __attribute__((noreturn)) void refuse_choice(const struct option_row *row,
                                                    const struct command *command, const char *text)
{
    struct suggestion near = {.word = text};
    char meant[80], expected[160] = "";
    for (int i = 0; row->choices[i]; i++) {
        const size_t used = strlen(expected);
        suggest_offer(&near, row->choices[i]);
        snprintf(expected + used, sizeof expected - used, "%s%s",
                 i == 0                ? ""
                 : row->choices[i + 1] ? ", "
                                       : " or ",
                 row->choices[i]);
    }
    options_usage(command, "--%s '%s'%s; expected %s\n---> %s", row->name, text,
                  suggest_text(&near, meant, sizeof meant), expected, row->example);
}

static int choice(const struct option_row *row, const struct command *command, const char *text)
{
    for (int i = 0; row->choices[i]; i++)
        if (strcmp(text, row->choices[i]) == 0)
            return i;
    refuse_choice(row, command, text);
}

static void append(const struct option_row *row, const struct command *command, const char *text,
                   struct options *options)
{
    struct text_list *const list = (struct text_list *)(void *)((char *)options + row->field);
    if (list->count == LIST_MAX)
        options_usage(command, "--%s stands more than %d times; expected fewer\n---> leave some out",
                      row->name, LIST_MAX);
    list->item[list->count++] = text;
}

static void put_choice(const struct option_row *row, const struct command *command, const char *text,
                       struct options *options)
{
    const int at = choice(row, command, text);
    const bool second = at == 1;
    if (row->size == sizeof second)
        put(row, options, &second);
    else
        put(row, options, &at);
}

static void put_number(const struct option_row *row, const struct command *command, const char *text,
                       struct options *options)
{
    const uint64_t value = whole_number(row, command, text);
    const int count = (int)value;
    if (row->type == OPTION_COUNT)
        put(row, options, &count);
    else
        put(row, options, &value);
}

void option_take(const struct option_row *row, const struct command *command, const char *text,
                 struct options *options)
{
    const bool set = row->type == OPTION_TRUE, yes = true, no = false;
    double value;
    switch (row->type) {
    case OPTION_TRUE:
    case OPTION_FALSE: put(row, options, &set); break;
    case OPTION_TEXT: put(row, options, &text); break;
    case OPTION_COUNT:
    case OPTION_NUMBER: put_number(row, command, text, options); break;
    case OPTION_SECONDS:
    case OPTION_SIZE:
        value = row->type == OPTION_SIZE ? size_in_bytes(row, command, text) : seconds(row, command, text);
        put(row, options, &value);
        break;
    case OPTION_CHOICE: put_choice(row, command, text, options); break;
    case OPTION_LIST: append(row, command, text, options); break;
    }
    if (row->given)
        memcpy((char *)options + row->given, &yes, sizeof yes);
    if (row->cleared)
        memcpy((char *)options + row->cleared, &no, sizeof no);
}
