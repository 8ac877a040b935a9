/* Errors outside of a command's own work: wrong words, output that cannot be written, unknown problems. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "options.h"
#include "reports/record/program.h"
#include "console.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/problem/folder.h"
#include "verify/util/interrupt.h"

void options_error(const char *format, ...)
{
    char text[16384];
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout); /* if both go to one file, the error comes last */
    fprintf(stderr, "unseen: ");
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    program_print_error(stderr, text);
    fprintf(stderr, "\n");
}

/* Opens a problem. A folder needs a compiler, which an interrupt kills. A note names what is missing but not
 * required. */
int options_problem(const char *word, const struct problem **problem)
{
    char text[4096];
    const bool caught = catch_signals_here(child_stop_all);
    console_watch(); /* importing a task may take long */
    const enum folder_status status = folder_problem(problem, word, text, sizeof text);
    console_unwatch();
    const bool interrupted = is_interrupted();
    if (caught)
        release_signals();
    if (interrupted) { /* the compiler was killed, which says nothing about the problem */
        options_error("interrupted");
        return EXIT_INTERRUPTED;
    }
    if (*text)
        options_error("%s%s", status == FOLDER_OK ? "note: " : "", text);
    return status == FOLDER_OK ? 0 : status == FOLDER_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

/* Has the reader of standard output left, such as `| head`? */
static bool reader_left(void)
{
    struct pollfd standard = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&standard, 1, 0) == 1 && (standard.revents & (POLLERR | POLLHUP));
}

int options_output(int status)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || reader_left())
        return status;
    options_error("standard output takes no more: not all was written\n"
                  "---> free some space, or send it elsewhere");
    return status == EXIT_GENERAL || status == EXIT_OTHER ? EXIT_ENVIRONMENT : status;
}
