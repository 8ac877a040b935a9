/* unseen: does a GPU kernel still work, and is it still fast, on configurations its author never saw? */
#include <stdio.h>
#include <string.h>

#include "options.h"

/* --seen takes a file everywhere but in `draw`, where it is a choice of set ('y'). */
static const struct command commands[] = {
    {"list", "", 0, 0, "", "List the problems, one line each.", command_list},
    {"describe", "PROBLEM", 1, 1, "h",
     "Axes, contract, tensors and arithmetic of a problem; with --header the C header that a candidate "
     "may include.", command_describe},
    {"draw", "PROBLEM", 1, 1, "yusdpev",
     "Draw the seen and unseen sets and print them, one configuration per line, with why each was "
     "drawn.", command_draw},
    {"verify", "PROBLEM CANDIDATE", 2, 2, "dSpuesbjcntJTvq",
     "Run CANDIDATE (.c, .cu or .so) on the seen and on an unseen set, judge every output element, and "
     "say whether it is general.", command_verify},
    {"check", "PROBLEM CANDIDATE CONFIGURATION", 3, 3, "dptTvq",
     "Run CANDIDATE on one configuration, such as 'rows=3 cols=4099 seed=91'.", command_check},
    {"peak", "", 0, 0, "d", "Measure what the hardware can do, beside the vendor's figures.",
     command_peak},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fprintf(out, "Usage: unseen COMMAND [ARGUMENT...] [OPTION...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  unseen %s %s\n      %s\n", commands[i].name, commands[i].arguments,
                commands[i].doc);
    fprintf(out, "\n`unseen COMMAND --help` lists the options of a command.\n"
                 "Exit status: 0 the candidate is general, 1 any other verdict, 2 bad usage or input,\n"
                 "3 the environment cannot do it, 130 interrupted.\n");
}

int main(int argc, char **argv)
{
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)) {
        print_usage(stdout);
        return EXIT_GENERAL;
    }
    if (argc >= 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("unseen %s (%s)\n", UNSEEN_VERSION, UNSEEN_GIT);
        return EXIT_GENERAL;
    }
    for (int i = 0; i < COMMANDS && argc >= 2; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return options_run(&commands[i], argc - 1, argv + 1);
    if (argc >= 2)
        options_error("unknown command '%s'\n---> one of list, describe, draw, verify, check, peak; "
                      "unseen --help says what each does", argv[1]);
    else
        print_usage(stderr);
    return EXIT_USAGE;
}
