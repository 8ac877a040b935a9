/* Running a compiler: the command line, and what its failure looks like. For candidates (build.h) and for problems
 * of one's own (verify/problem/). */
#ifndef UNSEEN_COMPILER_H
#define UNSEEN_COMPILER_H

#include <stdbool.h>

#include "build.h"

enum { COMMAND_ARGUMENTS = 64, COMMAND_TEXT = 8192 };

/* An argument vector and the text its arguments point into. Zeroed it is empty. */
struct compiler_command {
    const char *argv[COMMAND_ARGUMENTS];
    int count;
    char text[COMMAND_TEXT];
    size_t used;
};

/* One more argument. */
__attribute__((format(printf, 2, 3))) void compiler_add(struct compiler_command *command, const char *format,
                                                        ...);
void compiler_add_words(struct compiler_command *command, const char *words); /* separated by blanks */
void compiler_add_file(struct compiler_command *command,
                       const char *path);                   /* a file called -x.c is not an option */
bool compiler_fits(const struct compiler_command *command); /* false: something did not */

/* On PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin. */
bool compiler_find_nvcc(char *path, size_t size);

struct compiling {
    const char *path;      /* what is compiled, for messages */
    const char *directory; /* private; temporary files of the compiler go there */
    const char *log;       /* what it prints */
    double timeout;        /* seconds */
    bool
        untrusted; /* in the sandbox, where there is one: the compiler sees the toolchain, the folder of `path`, and
                            * those of sandbox_add_source */
};

/* BUILD_OK: it ended with status 0. Otherwise `error` holds the compiler's first errors (BUILD_FAILED), or why it
 * could not run (BUILD_ENVIRONMENT). */
enum build_status compiler_run(const struct compiler_command *command, const struct compiling *compiling,
                               char *error, size_t error_size);

/* Keeps the log of a failed run as unseen-build.log here, else as unseen-build-XXXXXX.log in TMPDIR or /tmp. A link or a pipe
 * of that name is replaced, not written through. `error` gets a line that says so, and `kept` where (empty: nowhere). */
void compiler_keep_log(const char *log, char *kept, size_t kept_size, char *error, size_t error_size);

#endif
