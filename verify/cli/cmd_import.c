/* unseen import: a task in Python as a problem's folder */
#include <signal.h>
#include <stdio.h>

#include "options.h"
#include "reports/text.h"
#include "verify/task/importing.h"

int command_import(const struct options *options)
{
    char folder[1400], text[2400];
    const struct importing importing = {.source = options->argument[0],
                                        .directory = options->out ? options->out : ".",
                                        .python = options->python,
                                        .vary = options->vary,
                                        .seconds = options->compile_timeout};
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write error, with a message */
    const enum folder_status status = importing_run(&importing, folder, sizeof folder, text, sizeof text);
    if (status != FOLDER_OK) {
        options_error("%s", text);
        return status == FOLDER_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    printf(
        "wrote %s; what was found is in its README.md, and its contract may be edited:\n  unseen describe ",
        folder);
    text_shell(stdout, folder);
    printf("\n");
    return EXIT_GENERAL;
}
