/* What the values of options are read by; a wrong one ends the process with status 2. */
#ifndef UNSEEN_OPTIONS_INTERNAL_H
#define UNSEEN_OPTIONS_INTERNAL_H

#include "options.h"

/* "unseen COMMAND: TEXT" on standard error, and the end. */
__attribute__((noreturn, format(printf, 2, 3))) void options_usage(const struct command *command,
                                                                   const char *format, ...);

struct whole {
    const char *name, *example;
    uint64_t least, most;
};
uint64_t options_whole(const struct command *command, const struct whole *whole, const char *text);
double options_seconds(const struct command *command, const char *name, const char *example,
                       const char *text); /* above 0, a day at most */
double options_size(const struct command *command, const char *name, int least_mib,
                    const char *text); /* bytes: "8G" */
enum effort options_effort(const struct command *command, const char *text);
bool options_accept(const struct command *command, const char *text); /* is it `limited`? */
enum color options_color(const struct command *command, const char *text);
bool options_tolerance(const struct command *command, const char *text); /* is it `published`? */
void options_forbid(const struct command *command, const char *text);
void options_take_away(const struct command *command, const char *list); /* --without */

#endif
