#include "options_internal.h"

#include <argp.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_table.h"
#include "problems/suggest.h"
#include "reports/record/program.h"
#include "console.h"
#include "verify/session/session.h"

/* The key of row i is LONG_ONLY + i: above the characters, so that it has no one-letter form. */
enum { LONG_ONLY = 256, HELP_LETTER = 'h' };

struct parsing {
    const struct command *command;
    struct options *options;
};

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

/* --- the command line --- */

static void take_argument(const struct parsing *parsing, const char *text)
{
    const struct command *command = parsing->command;
    struct options *o = parsing->options;
    if (o->arguments < command->most) {
        o->argument[o->arguments++] = text;
        return;
    }
    if (command->most == 0)
        options_usage(command, "unexpected argument '%s'; expected none\n---> leave it out", text);
    options_usage(command, "unexpected argument '%s'; expected %s\n---> %s", text, command->arguments,
                  strchr(text, '=') ? "put the whole configuration in quotes: 'rows=3 cols=4099'"
                                    : "leave it out");
}

/* Sets the options that another one implies, unless they were given themselves. */
static void imply(struct options *o)
{
    const bool preset = o->effort_given && o->effort == EFFORT_REWARD;
    o->quiet = o->quiet || o->reward; /* its line is all that is printed */
    o->verbose = o->verbose && !o->quiet;
    if (!o->explain_given)
        o->explain = !o->quiet && !preset;
    if (preset && !o->timing_given)
        o->timing = false;
}

static void remember(const struct parsing *parsing, const struct option_row *row, const char *text)
{
    struct options *const o = parsing->options;
    if (o->taken_count == TAKEN_MAX)
        options_usage(parsing->command, "more than %d options; expected fewer\n---> leave some out",
                      TAKEN_MAX);
    o->taken[o->taken_count++] = (struct option_taken){row, row->argument ? text : NULL};
}

/* The row that argp's key stands for; NULL: it is a key of argp's own. */
static const struct option_row *row_of(int key, const struct command *command)
{
    if (key >= LONG_ONLY && key < LONG_ONLY + OPTION_ROWS_MOST)
        return option_row(key - LONG_ONLY);
    const struct option_row *row = NULL;
    for (int i = 0; key > 0 && (row = option_row(i)); i++)
        if (row->letter == key && option_applies(row, command))
            return row;
    return NULL;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct parsing *parsing = state->input;
    const struct option_row *const row = row_of(key, parsing->command);
    if (key == HELP_LETTER)
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP); /* and leaves */
    if (row) {
        option_take(row, parsing->command, text, parsing->options);
        remember(parsing, row, text);
        return 0;
    }
    switch (key) {
    case ARGP_KEY_ARG: take_argument(parsing, text); return 0;
    case ARGP_KEY_END:
        if (parsing->options->arguments < parsing->command->least)
            options_usage(parsing->command,
                          "found %d of the arguments; expected %s\n"
                          "---> unseen %s --help",
                          parsing->options->arguments, parsing->command->arguments, parsing->command->name);
        imply(parsing->options);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The rows that the command takes. */
static void choose_options(const struct command *command, struct argp_option *out)
{
    const struct option_row *row;
    int n = 0;
    for (int i = 0; (row = option_row(i)); i++)
        if (option_applies(row, command)) {
            const int key = row->letter ? row->letter : LONG_ONLY + i;
            out[n++] = (struct argp_option){row->name, key, row->argument, 0, row->help, 0};
            if (row->old)
                out[n++] = (struct argp_option){row->old, key, row->argument, OPTION_HIDDEN, NULL, 0};
        }
    out[n++] = (struct argp_option){NULL, HELP_LETTER, NULL, OPTION_HIDDEN, NULL, 0};
    memset(&out[n], 0, sizeof out[n]);
}

/* Is there an option of that name, or of that letter? */
static bool takes(const struct command *command, const char *name)
{
    const struct option_row *row;
    for (int i = 0; (row = option_row(i)); i++)
        if (strcmp(row->name, name) == 0 && option_applies(row, command))
            return true;
    return false;
}

static const char *suggest_option(const struct suggestion *near, char *text, size_t size)
{
    *text = '\0';
    if (near->name)
        snprintf(text, size, " (did you mean '--%s'?)", near->name);
    return text;
}

static __attribute__((noreturn)) void
refuse_option(const struct command *command, const struct argp_option *table, int found, const char *word)
{
    char names[512] = "", bare[64], meant[80];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word, "="), word);
    struct suggestion near = {.word = bare + strspn(bare, "-")};
    for (const struct argp_option *o = table; o->name; o++) {
        const size_t used = strlen(names);
        if (o->flags & OPTION_HIDDEN)
            continue;
        suggest_offer(&near, o->name);
        if (optopt == o->key && optopt > LONG_ONLY && found == ':')
            options_usage(command, "--%s has no value; expected --%s %s\n---> add the value", o->name,
                          o->name, o->arg);
        if (optopt == o->key && strchr(word, '='))
            options_usage(command, "'%s'; --%s takes no value\n---> leave out the value", word, o->name);
        snprintf(names + used, sizeof names - used, "%s--%s", used ? ", " : "", o->name);
    }
    options_usage(command,
                  "unknown option '%s'%s; expected %s%s--help\n"
                  "---> unseen %s --help says what each does",
                  word, suggest_option(&near, meant, sizeof meant), names, *names ? " or " : "",
                  command->name);
}

/* Before argp, whose words for a wrong option do not say what is expected. Keys as argp will see them;
 * argp's own options are known here as well. */
static void check_options(const struct command *command, const struct argp_option *table, int argc,
                          char **argv)
{
    struct option known[OPTION_ROWS_MOST + 4];
    int n = 0, found;
    for (const struct argp_option *o = table; o->name; o++)
        known[n++] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->key};
    known[n++] = (struct option){"help", no_argument, NULL, 'V'};
    known[n++] = (struct option){"usage", no_argument, NULL, 'V'};
    known[n++] = (struct option){"version", no_argument, NULL, 'V'};
    known[n] = (struct option){0};
    const char *const letters = takes(command, "quiet")     ? ":Vhvq"
                                : takes(command, "verbose") ? ":Vhv"
                                                            : ":Vh";
    opterr = 0;
    optind = 0;
    while ((found = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        char letter[3] = {'-', (char)optopt, '\0'};
        const bool one_letter =
            found == '?' && optopt > 0 && optopt < LONG_ONLY && strncmp(argv[optind - 1], "--", 2) != 0;
        if (found == ':' || (found == '?' && !(one_letter && optopt == '?')))
            refuse_option(command, table, found, one_letter ? letter : argv[optind - 1]);
    }
}

int options_run(const struct command *command, int argc, char **argv, struct shared_judge *shared)
{
    struct options options = {.shared = shared,
                              .unseen = -1,
                              .scouts = takes(command, "small") ? -1 : 0,
                              .directed = takes(command, "directed") ? -1 : 0,
                              .effort = EFFORT_STANDARD,
                              .timing = true,
                              .explain = true,
                              .timeout = CALL_SECONDS,
                              .jobs = 1,
                              .runs = RUNS_DEFAULT};
    struct argp_option table[OPTION_ROWS_MOST + 2];
    struct parsing parsing = {command, &options};
    char name[64];
    choose_options(command, table);
    const struct argp argp = {table, parse, command->arguments, command->doc, NULL, NULL, NULL};
    snprintf(name, sizeof name, "unseen %s", command->name);
    argv[0] = name;
    static char version[128];
    snprintf(version, sizeof version, "unseen %s (%s)", UNSEEN_VERSION, unseen_git);
    argp_program_version = version;
    argp_err_exit_status = EXIT_USAGE;
    check_options(command, table, argc, argv);
    if (argp_parse(&argp, argc, argv, 0, NULL, &parsing) != 0) { /* a wrong word has left before */
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    options_apply(command, &options);
    console_silence(options.quiet);
    return options_output(command->run(&options));
}
