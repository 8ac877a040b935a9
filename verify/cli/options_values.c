#include "options_internal.h"
#include "problems/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/program.h"
#include "verify/forbid/forbid.h"
#include "verify/system/defence.h"

void options_usage(const struct command *command, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "unseen %s: ", command->name);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    program_print_error(stderr, text);
    fprintf(stderr, "\n");
    exit(EXIT_USAGE);
}

uint64_t options_whole(const struct command *command, const struct whole *whole, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno || strchr(text, '-') || value < whole->least ||
        value > whole->most)
        options_usage(command,
                      "--%s '%s'; expected a whole number from %llu to %llu\n"
                      "---> for example --%s %s",
                      whole->name, text, (unsigned long long)whole->least, (unsigned long long)whole->most,
                      whole->name, whole->example);
    return value;
}

double options_seconds(const struct command *command, const char *name, const char *example, const char *text)
{
    enum { DAY = 86400 };
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || value > DAY)
        options_usage(command,
                      "--%s '%s'; expected seconds above 0 and at most %d\n"
                      "---> for example --%s %s",
                      name, text, DAY, name, example);
    return value;
}

/* A number and a power of 1024. Below the least no candidate could be loaded. */
double options_size(const struct command *command, const char *name, int least_mib, const char *text)
{
    static const char units[] = "KMGT";
    static const double most = 0x1p50;
    const double least = least_mib * 0x1p20;
    char *end;
    double value = strtod(text, &end);
    const char *const unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        value = ldexp(value, 10 * (int)(unit - units + 1));
    if (end == text || (*end && (!unit || end[1])) || !(value >= least && value <= most))
        options_usage(command,
                      "--%s '%s'; expected a number with K, M, G or T (powers of 1024), from %dM to 1024T\n"
                      "---> for example --%s 8G",
                      name, text, least_mib, name);
    return value;
}

enum effort options_effort(const struct command *command, const char *text)
{
    static const char *const name[] = {"quick", "standard", "deep", "reward"};
    const bool draws = strcmp(command->name, "verify") == 0 || strcmp(command->name, "draw") == 0;
    for (int i = 0; i < (draws ? 4 : 3); i++)
        if (strcmp(text, name[i]) == 0)
            return (enum effort)i;
    struct suggestion near = {.word = text};
    char meant[80];
    for (int i = 0; i < (draws ? 4 : 3); i++)
        suggest_offer(&near, name[i]);
    options_usage(command,
                  "--effort '%s'%s; expected quick, standard%s\n"
                  "---> --unseen N draws any other number of configurations",
                  text, suggest_text(&near, meant, sizeof meant), draws ? ", deep or reward" : " or deep");
}

bool options_accept(const struct command *command, const char *text)
{
    if (strcmp(text, "limited") != 0 && strcmp(text, "general") != 0)
        options_usage(command,
                      "--accept '%s'; expected limited, or general\n"
                      "---> leave it out: general alone is then accepted",
                      text);
    return strcmp(text, "limited") == 0;
}

enum color options_color(const struct command *command, const char *text)
{
    static const char *const name[] = {"auto", "always", "never"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, name[i]) == 0)
            return (enum color)i;
    options_usage(command, "--color '%s'; expected auto, always or never\n---> leave it out for auto", text);
}

bool options_tolerance(const struct command *command, const char *text)
{
    if (strcmp(text, "published") != 0 && strcmp(text, "exact") != 0)
        options_usage(command,
                      "--tolerance '%s'; expected exact or published\n"
                      "---> leave it out for exact",
                      text);
    return strcmp(text, "published") == 0;
}

void options_forbid(const struct command *command, const char *text)
{
    char error[512];
    if (forbid_add(text, error, sizeof error) != 0)
        options_usage(command, "%s", error);
}

void options_take_away(const struct command *command, const char *list)
{
    const char *const wrong = defence_remove(list);
    if (!wrong)
        return;
    char names[DEFENCE_TEXT + DEFENCE_COUNT] = "";
    for (int i = 0; i < DEFENCE_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 defence_name((enum defence)i));
    options_usage(command, "--without '%.*s'; expected some of %s\n---> for example --without fresh,moved",
                  (int)strcspn(wrong, ","), wrong, names);
}
