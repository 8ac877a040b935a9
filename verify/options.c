#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DEVICE = 'd', KEY_SEED = 's', KEY_UNSEEN = 'u', KEY_EFFORT = 'e', KEY_JSON = 'j',
       KEY_CSV = 'c', KEY_TIMEOUT = 't', KEY_JOBS = 'J', KEY_VERBOSE = 'v', KEY_QUIET = 'q',
       KEY_SEEN = 'S', KEY_SPACE = 'p', KEY_BASELINE = 'b', KEY_NO_TIMING = 'n', KEY_HEADER = 'h',
       KEY_ONLY_SEEN = 'y', KEY_TOLERANCE = 'T' };

/* Long names only, but for -v and -q: the keys are not typed. */
static const struct argp_option all_options[] = {
    {"device", KEY_DEVICE, "DEVICE", 0, "host, cuda or cuda:N (default: cuda when a GPU is present)", 0},
    {"seen", KEY_SEEN, "FILE", 0, "take the seen set from FILE", 0},
    {"seen", KEY_ONLY_SEEN, NULL, 0, "print the seen set only", 0},
    {"space", KEY_SPACE, "FILE", 0, "take the contract from FILE", 0},
    {"unseen", KEY_UNSEEN, "N", 0, "draw N unseen configurations", 0},
    {"effort", KEY_EFFORT, "LEVEL", 0, "quick, standard (default) or deep: about 40, 300, 1500 "
     "configurations", 0},
    {"seed", KEY_SEED, "S", 0, "draw from seed S instead of the system's entropy", 0},
    {"baseline", KEY_BASELINE, "FILE", 0, "time FILE beside the candidate", 0},
    {"json", KEY_JSON, "FILE", 0, "write the whole result to FILE", 0},
    {"csv", KEY_CSV, "FILE", 0, "write one line per configuration to FILE", 0},
    {"no-timing", KEY_NO_TIMING, NULL, 0, "judge correctness only", 0},
    {"tolerance", KEY_TOLERANCE, "KIND", 0, "exact (default: our allowed error decides) or published "
     "(the published check's constants decide; both are printed)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "for one call of the candidate (default: 20)", 0},
    {"jobs", KEY_JOBS, "N", 0, "configurations at work at the same time (default: 1)", 0},
    {"header", KEY_HEADER, NULL, 0, "print the C header that a candidate may include", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "one line per configuration, and where the time went", 0},
    {"quiet", KEY_QUIET, NULL, 0, "the verdict only", 0},
};

struct parsing {
    const struct command *command;
    struct options *options;
};

static uint64_t parse_whole(struct argp_state *state, const char *name, const char *text,
                            uint64_t most)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno || text[0] == '-' || value > most)
        argp_error(state, "--%s %s: expected a whole number from 0 to %llu", name, text,
                   (unsigned long long)most);
    return value;
}

static double parse_seconds(struct argp_state *state, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || value > 86400)
        argp_error(state, "--timeout %s: expected seconds above 0 and at most 86400", text);
    return value;
}

static enum effort parse_effort(struct argp_state *state, const char *text)
{
    static const char *const name[] = {"quick", "standard", "deep"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, name[i]) == 0)
            return (enum effort)i;
    argp_error(state, "--effort %s: expected quick, standard or deep", text);
    return EFFORT_STANDARD;
}

static bool parse_tolerance(struct argp_state *state, const char *text)
{
    if (strcmp(text, "published") != 0 && strcmp(text, "exact") != 0)
        argp_error(state, "--tolerance %s: expected exact or published", text);
    return strcmp(text, "published") == 0;
}

static error_t parse_number(int key, char *text, struct argp_state *state, struct options *o)
{
    switch (key) {
    case KEY_UNSEEN:
        o->unseen = (int)parse_whole(state, "unseen", text, 1000000);
        o->only_unseen = true;
        return 0;
    case KEY_SEED:
        o->seed = parse_whole(state, "seed", text, ((uint64_t)1 << 53) - 1);
        o->seed_given = true;
        return 0;
    case KEY_JOBS: o->jobs = (int)parse_whole(state, "jobs", text, 64); return 0;
    case KEY_TIMEOUT: o->timeout = parse_seconds(state, text); return 0;
    case KEY_EFFORT:
        o->effort = parse_effort(state, text);
        o->effort_given = true;
        return 0;
    case KEY_TOLERANCE: o->published = parse_tolerance(state, text); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct parsing *parsing = state->input;
    struct options *o = parsing->options;
    switch (key) {
    case KEY_DEVICE: o->device = text; return 0;
    case KEY_SEEN: o->seen = text; return 0;
    case KEY_ONLY_SEEN: o->only_seen = true; return 0;
    case KEY_SPACE: o->space = text; return 0;
    case KEY_BASELINE: o->baseline = text; return 0;
    case KEY_JSON: o->json = text; return 0;
    case KEY_CSV: o->csv = text; return 0;
    case KEY_NO_TIMING: o->timing = false; return 0;
    case KEY_HEADER: o->header = true; return 0;
    case KEY_VERBOSE: o->verbose = true; return 0;
    case KEY_QUIET: o->quiet = true; return 0;
    case ARGP_KEY_ARG:
        if (o->arguments >= parsing->command->most)
            argp_error(state, "unexpected argument '%s'; expected %s", text,
                       parsing->command->arguments);
        o->argument[o->arguments++] = text;
        return 0;
    case ARGP_KEY_END:
        if (o->arguments < parsing->command->least)
            argp_error(state, "missing argument; expected %s", parsing->command->arguments);
        return 0;
    default: return parse_number(key, text, state, o);
    }
}

/* The rows of all_options that the command names; -v and -q are typed, the other keys are not. */
static void choose_options(const struct command *command, struct argp_option *out)
{
    int n = 0;
    for (size_t i = 0; i < sizeof all_options / sizeof *all_options; i++)
        if (strchr(command->options, all_options[i].key))
            out[n++] = all_options[i];
    memset(&out[n], 0, sizeof out[n]);
}

int options_run(const struct command *command, int argc, char **argv)
{
    struct options options = {.unseen = -1, .effort = EFFORT_STANDARD, .timing = true, .timeout = 20};
    struct argp_option table[sizeof all_options / sizeof *all_options + 1];
    struct parsing parsing = {command, &options};
    char name[64];
    choose_options(command, table);
    const struct argp argp = {table, parse, command->arguments, command->doc, NULL, NULL, NULL};
    snprintf(name, sizeof name, "unseen %s", command->name);
    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &parsing) != 0)
        return EXIT_USAGE;
    return command->run(&options);
}

void options_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "unseen: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

const struct problem *options_problem(const struct options *options)
{
    const struct problem *problem = problem_find(options->argument[0]);
    if (!problem) {
        options_error("unknown problem '%s'; known are:", options->argument[0]);
        for (const struct problem *const *p = problem_registry; *p; p++)
            fprintf(stderr, "  %s\n", (*p)->name);
        fprintf(stderr, "---> unseen list says what each is\n");
    }
    return problem;
}
