/* The compiler's command line and its running: used by build.c. */
#ifndef UNSEEN_BUILD_INTERNAL_H
#define UNSEEN_BUILD_INTERNAL_H

#include "build.h"

enum { COMMAND_ARGUMENTS = 48, COMMAND_TEXT = 4096 };

/* An argument vector and the text its arguments point into. */
struct command {
    const char *argv[COMMAND_ARGUMENTS];
    int count;
    char text[COMMAND_TEXT];
    size_t used;
};

/* --- build_command.c: the exact command lines of the candidate interface --- */

/* cc for a .c file; nvcc for a .cu file, with the libraries that its link line names. */
enum build_status command_make(struct command *command, const struct build *build,
                               const struct build_options *options, char *error, size_t error_size);

/* --- build_run.c --- */

/* Run it with everything it prints in build->log and its temporary files in build->directory.
 * BUILD_OK: it ended with status 0. */
enum build_status command_run(const struct command *command, const struct build *build,
                              const struct build_options *options, char *error, size_t error_size);

#endif
