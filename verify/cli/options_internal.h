/* Shared by the files that read the command line. */
#ifndef UNSEEN_OPTIONS_INTERNAL_H
#define UNSEEN_OPTIONS_INTERNAL_H

#include "options.h"

/* "unseen COMMAND: TEXT" on standard error, and the end. */
__attribute__((noreturn, format(printf, 2, 3))) void options_usage(const struct command *command,
                                                                   const char *format, ...);

/* Hands the settings to the modules that keep them for the whole process: the sandbox, the policy on
 * libraries, the defences, the budget, and the importer. The only place that does so. It sets them all,
 * defaults included, so that a command in a lane (unseen batch) finds nothing of an earlier one. A wrong
 * value ends the process with status 2. */
void options_apply(const struct command *command, const struct options *options);

#endif
