/* Runs a compiler and describes its failure, for candidates (build.h) and for user-defined problems
 * (verify/problem/). */
#ifndef UNSEEN_COMPILER_H
#define UNSEEN_COMPILER_H

#include <stdbool.h>

#include "build.h"

enum { COMMAND_ARGUMENTS = 64, COMMAND_TEXT = 8192 };

/* An argument vector and the text to which its arguments point. Empty when zeroed. */
struct compiler_command {
    const char *argv[COMMAND_ARGUMENTS];
    int count;
    char text[COMMAND_TEXT];
    size_t used;
};

/* Appends an argument. */
__attribute__((format(printf, 2, 3))) void compiler_add(struct compiler_command *command, const char *format,
                                                        ...);
/* appends words separated by blanks */
void compiler_add_words(struct compiler_command *command, const char *words);
void compiler_add_file(struct compiler_command *command,
                       const char *path); /* appends a file; a file called -x.c is not taken for an option */
bool compiler_fits(const struct compiler_command *command); /* false: something did not fit */

/* Searches PATH, $CUDA_HOME/bin and /usr/local/cuda/bin. */
bool compiler_find_nvcc(char *path, size_t size);

struct compiling {
    const char *path;      /* the compiled file, for messages */
    const char *directory; /* private directory for the compiler's temporary files */
    const char *log;       /* file for its output */
    double timeout;        /* seconds */
    bool
        /* run it in the sandbox, if there is one: the compiler sees the toolchain, the folder of `path`, and
         * those of sandbox_add_source */
        untrusted;
};

/* BUILD_OK: it ended with status 0. Otherwise `error` has the compiler's first errors (BUILD_FAILED), or why
 * it could not run (BUILD_ENVIRONMENT). */
enum build_status compiler_run(const struct compiler_command *command, const struct compiling *compiling,
                               char *error, size_t error_size);

/* Keeps the log of a failed run as unseen-build.log here, else as unseen-build-XXXXXX.log in TMPDIR or /tmp.
 * It replaces a link or pipe of that name instead of writing through it. `error` gets a line about it, and
 * `kept` the path (empty: not kept). */
void compiler_keep_log(const char *log, char *kept, size_t kept_size, char *error, size_t error_size);

#endif
