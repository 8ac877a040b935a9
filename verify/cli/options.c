#include "options_internal.h"
#include "problems/suggest.h"

#include <argp.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "verify/isolate/child.h"
#include "verify/isolate/sandbox.h"
#include "verify/problem/folder.h"
#include "verify/problem/paths.h"
#include "verify/session/session.h"
#include "verify/system/interrupt.h"

enum {
    KEY_DEVICE = 'd',
    KEY_SEED = 's',
    KEY_UNSEEN = 'u',
    KEY_EFFORT = 'e',
    KEY_JSON = 'j',
    KEY_CSV = 'c',
    KEY_TIMEOUT = 't',
    KEY_JOBS = 'J',
    KEY_VERBOSE = 'v',
    KEY_QUIET = 'q',
    KEY_SEEN = 'S',
    KEY_SPACE = 'p',
    KEY_BASELINE = 'b',
    KEY_NO_TIMING = 'n',
    KEY_HEADER = 'h',
    KEY_ONLY_SEEN = 'y',
    KEY_TOLERANCE = 'T',
    KEY_FAIL_FAST = 'f',
    KEY_NO_EXPLAIN = 'x',
    KEY_RUNS = 'r',
    KEY_REGRESS = 'R',
    KEY_CAUSE = 'C',
    KEY_TIMING = 'm',
    KEY_NO_LEASE = 'L',
    KEY_FORBID = 'F',
    KEY_LIKE = 'l',
    KEY_FORM = 'X',
    KEY_OUT = 'o',
    KEY_SOURCES = 'i',
    KEY_REQUIRE_SANDBOX = 'w',
    KEY_MEMORY = 'M',
    KEY_BUDGET = 'B',
    KEY_WITHOUT = 'W',
    KEY_PYTHON = 'P',
    KEY_ENTRY = 'E',
    KEY_COMPILE_TIMEOUT = 'k',
    KEY_SCORES = 'g',
    KEY_REWARD = 'Q',
    KEY_REWARD_TABLE = 'A',
    KEY_DB = 'D',
    KEY_PLOT = 'N',
    KEY_IMPORT = 'I',
    KEY_HTML = 'H',
    KEY_JUNIT = 'U',
    KEY_MARKDOWN = 'K',
    KEY_GITHUB = 'G',
    KEY_COLOR = 'O',
    KEY_AGAINST = 'a',
    KEY_SEEN_ONLY = '1',
    KEY_OUT_FILE = '2',
    KEY_FORMAT = '3',
    KEY_INPUTS = '4',
    KEY_SIZE = '5',
    KEY_UNSEEN_SET = '6',
    KEY_INPUTS_AS = '7',
    KEY_VALUES = '8',
    KEY_VARY = 'Y',
    KEY_PEAKS = 'z',
    KEY_SCOUTS = '9',
    KEY_AFTER = '@',
    KEY_EXPLAIN = '+',
    KEY_ACCEPT = '!'
};

/* A key above the characters has no one-letter form; only -v and -q are promised. */
enum { LONG_ONLY = 256, HELP_LETTER = 'h' };

static const struct argp_option all_options[] = {
    {"device", KEY_DEVICE, "DEVICE", 0, "host, cuda or cuda:N (default: cuda when a GPU is present)", 0},
    {"seen", KEY_SEEN, "FILE", 0, "take the seen set from FILE", 0},
    {"seen", KEY_ONLY_SEEN, NULL, 0, "print the seen set only", 0},
    {"seen-only", KEY_SEEN_ONLY, NULL, 0, "the seen set only", 0},
    {"space", KEY_SPACE, "FILE", 0, "take the contract from FILE", 0},
    {"no-explain", KEY_NO_EXPLAIN, NULL, 0, "of what fails neither the simplest configuration nor the rule",
     0},
    {"explain", KEY_EXPLAIN, NULL, 0,
     "look for both, where --reward, -q or --effort reward would leave them out", 0},
    {"accept", KEY_ACCEPT, "VERDICT", 0, "limited: a candidate that only refuses has status 0, too", 0},
    {"regress", KEY_REGRESS, "FILE", 0,
     "the file of frozen failures (default: "
     "shapes/PROBLEM.regress, or in the problem's own folder; of an installed tool below XDG_DATA_HOME)",
     0},
    {"cause", KEY_CAUSE, "TEXT", 0, "what is wrong there, kept as a comment", 0},
    {"runs", KEY_RUNS, "N", 0,
     "run the candidate on N simpler configurations at most (default: "
     "60)",
     0},
    {"unseen", KEY_UNSEEN, "N", 0, "draw N unseen configurations", 0},
    {"scouts", KEY_SCOUTS, "N", 0,
     "draw N small configurations more, which are judged and not timed (default: 190, 750, 1875 by the "
     "effort, "
     "none with --unseen, "
     "of tasks and candidates in Python)",
     0},
    {"unseen-set", KEY_UNSEEN_SET, "FILE", 0,
     "run the configurations in FILE instead of drawing an unseen set", 0},
    {"effort", KEY_EFFORT, "LEVEL", 0,
     "quick, standard (default; in audit quick) or deep: about 40, "
     "300, 1500 configurations; in verify and draw also reward: few large ones and many scouts, neither "
     "timed "
     "nor explained (doc/training.md)",
     0},
    {"seed", KEY_SEED, "S", 0, "draw from seed S instead of the system's entropy", 0},
    {"baseline", KEY_BASELINE, "FILE", 0,
     "judge and time FILE, or the problem's `own` baseline, beside the candidate", 0},
    {"against", KEY_AGAINST, "FILE", 0, "compare with this stored result, which was made with --baseline own",
     0},
    {"peaks", KEY_PEAKS, "FILE", 0,
     "the file of what the hardware can do, which unseen peak writes (default: the machine's own)", 0},
    {"scores", KEY_SCORES, NULL, 0, "print the scores that others publish, too (doc/scores.md)", 0},
    {"reward", KEY_REWARD, "NAME", 0,
     "print one line: the score NAME of the unseen set (NAME@seen: of the seen)", 0},
    {"reward-table", KEY_REWARD_TABLE, "FILE", 0, "what outcomes are worth, for the score `table`", 0},
    {"db", KEY_DB, "FILE", 0, "keep the result in the database FILE, which `unseen history` reads", 0},
    {"plot", KEY_PLOT, "FILE", 0, "draw times and drops over runs as SVG into FILE; -: standard output", 0},
    {"import", KEY_IMPORT, NULL, 0, "take in results that --json wrote", 0},
    {"json", KEY_JSON, "FILE", 0, "write the whole result to FILE", 0},
    {"csv", KEY_CSV, "FILE", 0, "write one line per configuration to FILE", 0},
    {"html", KEY_HTML, "FILE", 0, "write one self-contained page to FILE", 0},
    {"junit", KEY_JUNIT, "FILE", 0, "write JUnit XML to FILE: a test case for each configuration", 0},
    {"markdown", KEY_MARKDOWN, "FILE", 0, "write Markdown to FILE, for a pull request's comment", 0},
    {"github", KEY_GITHUB, NULL, 0, "print annotations of a workflow on GitHub", 0},
    {"color", KEY_COLOR, "WHEN", 0, "auto (default: on a terminal), always or never", 0},
    {"after", KEY_AFTER, "CONFIGURATION", 0,
     "call this configuration first, in the same process: for what is wrong only after another one", 0},
    {"values", KEY_VALUES, "TEXT", 0,
     "one call with the values of another seed, but for some elements: 'seed=7 keep=x[0,4]'", 0},
    {"timing", KEY_TIMING, NULL, 0, "time it too, and judge the timed calls", 0},
    {"no-timing", KEY_NO_TIMING, NULL, 0, "judge correctness only", 0},
    {"no-lease", KEY_NO_LEASE, NULL, 0,
     "time without waiting for another unseen that is timing on the "
     "same device",
     0},
    {"fail-fast", KEY_FAIL_FAST, NULL, 0,
     "stop at the first configuration that fails; the others "
     "count as skipped, and nothing is timed",
     0},
    {"tolerance", KEY_TOLERANCE, "KIND", 0,
     "exact (default: our allowed error decides) or published "
     "(the published check's constants decide; both are printed)",
     0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "for one call of the candidate (default: 20)", 0},
    {"python", KEY_PYTHON, "PATH", 0,
     "the interpreter of a candidate or task in Python, which has torch (default: python3 on PATH)", 0},
    {"entry", KEY_ENTRY, "NAME", 0,
     "the class or function of a candidate in Python, of a folder FILE:NAME (default: what is found)", 0},
    {"compile-timeout", KEY_COMPILE_TIMEOUT, "SECONDS", 0,
     "for compiling; for loading a candidate in Python, and for its first call of a configuration (default: "
     "600); for importing a task (default: 300)",
     0},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "main memory that the candidate and all that it starts may hold, such as 8G (default: half of the "
     "machine's, shared by --jobs)",
     0},
    {"budget", KEY_BUDGET, "SECONDS", 0,
     "for the whole verdict; what is left by then is not run, and the verdict not general (default: none)",
     0},
    {"jobs", KEY_JOBS, "N", 0, "configurations at work at the same time (default: 1)", 0},
    {"form", KEY_FORM, "FORM", 0,
     "begin with a problem of that form: contraction, rows, discrete, recurrence, elements or folds", 0},
    {"like", KEY_LIKE, "PROBLEM", 0, "the problem to begin with, by its name or its folder", 0},
    {"out", KEY_OUT, "DIRECTORY", 0, "where the folder is made (default: here)", 0},
    {"vary", KEY_VARY, "SIZE[,SIZE]", 0,
     "sizes that stay as published otherwise (a window, strides, groups), to be varied with the others", 0},
    {"out", KEY_OUT_FILE, "FILE", 0, "write there (default: standard output)", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "json, csv, python, flashinfer or gpumode", 0},
    {"inputs", KEY_INPUTS, "DIR", 0,
     "write the inputs of every configuration, too, as files in the new folder DIR", 0},
    {"inputs-as", KEY_INPUTS_AS, "FORMAT", 0,
     "npy (default: a file of NumPy for each tensor) or safetensors (a file for each configuration)", 0},
    {"size", KEY_SIZE, "SIZE", 0, "what these files may hold together, such as 8G (default: 1G)", 0},
    {"sources", KEY_SOURCES, "DIR", 0,
     "a folder on the include path of compiling the candidate, which sees no other but its own (repeatable)",
     0},
    {"require-sandbox", KEY_REQUIRE_SANDBOX, NULL, 0,
     "where there is no sandbox neither compile nor run the candidate: status 3", 0},
    {"forbid", KEY_FORBID, "LIST", 0,
     "libraries that the candidate may not use, with commas: cublas,cutlass,lib:gmp (repeatable)", 0},
    {"without", KEY_WITHOUT, "DEFENCE[,DEFENCE]", 0,
     "for measurements: take defences away, by the names in doc/threat-model.md; status 1 whatever the "
     "verdict",
     0},
    {"header", KEY_HEADER, NULL, 0, "print the C header that a candidate may include", 0},
    {"verbose", KEY_VERBOSE, NULL, 0,
     "more: in verify and report the whole report, with one line per configuration and where the time "
     "went; in check what the candidate prints; in shrink every step",
     0},
    {"quiet", KEY_QUIET, NULL, 0, "the verdict only; in shrink the configuration only", 0},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

struct parsing {
    const struct command *command;
    struct options *options;
};

/* --- values --- */

/* What is kept as it stands. False: another kind of option. */
static bool take_text(int key, const char *text, struct options *o)
{
    const struct {
        int key;
        const char **place;
    } all[] = {
        {KEY_ENTRY, &o->entry},
        {KEY_VALUES, &o->values},
        {KEY_AFTER, &o->after},
        {KEY_DEVICE, &o->device},
        {KEY_SEEN, &o->seen},
        {KEY_SPACE, &o->space},
        {KEY_BASELINE, &o->baseline},
        {KEY_REWARD, &o->reward},
        {KEY_REWARD_TABLE, &o->reward_table},
        {KEY_DB, &o->db},
        {KEY_PLOT, &o->plot},
        {KEY_AGAINST, &o->against},
        {KEY_PEAKS, &o->peaks},
        {KEY_JSON, &o->json},
        {KEY_CSV, &o->csv},
        {KEY_HTML, &o->html},
        {KEY_JUNIT, &o->junit},
        {KEY_MARKDOWN, &o->markdown},
        {KEY_REGRESS, &o->regress},
        {KEY_CAUSE, &o->cause},
        {KEY_LIKE, &o->like},
        {KEY_FORM, &o->form},
        {KEY_UNSEEN_SET, &o->unseen_set},
        {KEY_FORMAT, &o->format},
        {KEY_INPUTS, &o->inputs},
        {KEY_INPUTS_AS, &o->inputs_as},
        {KEY_OUT, &o->out},
        {KEY_VARY, &o->vary},
        {KEY_OUT_FILE, &o->out},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].key == key) {
            *all[i].place = text;
            return true;
        }
    return false;
}

static error_t parse_value(int key, char *text, const struct command *command, struct options *o)
{
    static const struct whole unseen = {"unseen", "40", 0, 1000000}, jobs = {"jobs", "2", 1, 64},
                              runs = {"runs", "60", 1, 10000}, scouts = {"scouts", "190", 0, 100000},
                              seed = {"seed", "1", 0, ((uint64_t)1 << 53) - 1}; /* exact in JSON */
    if (take_text(key, text, o))
        return 0;
    switch (key) {
    case KEY_UNSEEN:
        o->unseen = (int)options_whole(command, &unseen, text);
        o->only_unseen = true;
        return 0;
    case KEY_SCOUTS: o->scouts = (int)options_whole(command, &scouts, text); return 0;
    case KEY_SEED:
        o->seed = options_whole(command, &seed, text);
        o->seed_given = true;
        return 0;
    case KEY_JOBS: o->jobs = (int)options_whole(command, &jobs, text); return 0;
    case KEY_RUNS: o->runs = (int)options_whole(command, &runs, text); return 0;
    case KEY_TIMEOUT: o->timeout = options_seconds(command, "timeout", "5", text); return 0;
    case KEY_COMPILE_TIMEOUT:
        o->compile_timeout = options_seconds(command, "compile-timeout", "120", text);
        folder_import_seconds(o->compile_timeout);
        return 0;
    case KEY_BUDGET: o->budget = options_seconds(command, "budget", "600", text); return 0;
    case KEY_MEMORY: o->memory = options_size(command, "memory", 16, text); return 0;
    case KEY_ACCEPT: o->accept_limited = options_accept(command, text); return 0;
    case KEY_EFFORT:
        o->effort = options_effort(command, text);
        o->effort_given = true;
        return 0;
    case KEY_TOLERANCE: o->published = options_tolerance(command, text); return 0;
    case KEY_COLOR: o->color = options_color(command, text); return 0;
    case KEY_FORBID: options_forbid(command, text); return 0;
    case KEY_SIZE: o->size = options_size(command, "size", 1, text); return 0;
    case KEY_PYTHON:
        o->python = text;
        folder_python(text);
        return 0;
    case KEY_WITHOUT: options_take_away(command, text); return 0;
    case KEY_SOURCES:
        if (!sandbox_add_source(text))
            options_usage(command,
                          "--sources '%s'; expected a folder, %d of them at most\n---> check the path", text,
                          SANDBOX_SOURCES - 1);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
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

/* What an option asks for beside itself, unless another one says otherwise. */
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

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct parsing *parsing = state->input;
    struct options *o = parsing->options;
    if (key == HELP_LETTER)
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP); /* and leaves */
    if (key > LONG_ONLY && key < 2 * LONG_ONLY)
        key -= LONG_ONLY;
    switch (key) {
    case KEY_SEEN_ONLY:
    case KEY_ONLY_SEEN: o->only_seen = true; return 0;
    case KEY_TIMING:
        *(parsing->command->run == command_verify ? &o->timing_given : &o->timed) = true;
        return 0;
    case KEY_NO_TIMING: o->timing = false; return 0;
    case KEY_NO_LEASE: o->no_lease = true; return 0;
    case KEY_NO_EXPLAIN:
    case KEY_EXPLAIN: /* the last of the two counts */
        o->explain = key == KEY_EXPLAIN;
        o->explain_given = true;
        return 0;
    case KEY_FAIL_FAST: o->fail_fast = true; return 0;
    case KEY_HEADER: o->header = true; return 0;
    case KEY_GITHUB: o->github = true; return 0;
    case KEY_SCORES: o->scores = true; return 0;
    case KEY_IMPORT: o->import = true; return 0;
    case KEY_REQUIRE_SANDBOX: sandbox_require(); return 0;
    case KEY_VERBOSE:
    case KEY_QUIET: /* the last of the two counts */
        o->verbose = key == KEY_VERBOSE;
        o->quiet = key == KEY_QUIET;
        return 0;
    case ARGP_KEY_ARG: take_argument(parsing, text); return 0;
    case ARGP_KEY_END:
        if (o->arguments < parsing->command->least)
            options_usage(parsing->command,
                          "found %d of the arguments; expected %s\n"
                          "---> unseen %s --help",
                          o->arguments, parsing->command->arguments, parsing->command->name);
        imply(o);
        return 0;
    default: return parse_value(key, text, parsing->command, o);
    }
}

/* The rows of all_options that the command names. */
static void choose_options(const struct command *command, struct argp_option *out)
{
    int n = 0;
    for (int i = 0; i < OPTIONS; i++) {
        if (!strchr(command->options, all_options[i].key))
            continue;
        out[n] = all_options[i];
        if (out[n].key != KEY_VERBOSE && out[n].key != KEY_QUIET)
            out[n].key += LONG_ONLY;
        n++;
    }
    out[n++] = (struct argp_option){NULL, HELP_LETTER, NULL, OPTION_HIDDEN, NULL, 0};
    memset(&out[n], 0, sizeof out[n]);
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
    struct option known[OPTIONS + 4];
    int n = 0, found;
    for (const struct argp_option *o = table; o->name; o++)
        known[n++] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->key};
    known[n++] = (struct option){"help", no_argument, NULL, 'V'};
    known[n++] = (struct option){"usage", no_argument, NULL, 'V'};
    known[n++] = (struct option){"version", no_argument, NULL, 'V'};
    known[n] = (struct option){0};
    const char *const letters = strchr(command->options, KEY_QUIET)     ? ":Vhvq"
                                : strchr(command->options, KEY_VERBOSE) ? ":Vhv"
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

/* Kernels of the tool's own include headers of its problems. */
static void show_own_headers(void)
{
    char root[PATH_MAX];
    if (paths_find(root, sizeof root, "problems") == 0)
        sandbox_add_source(root);
}

int options_run(const struct command *command, int argc, char **argv)
{
    struct options options = {.unseen = -1,
                              .scouts = strchr(command->options, KEY_SCOUTS) ? -1 : 0,
                              .effort = EFFORT_STANDARD,
                              .timing = true,
                              .explain = true,
                              .timeout = CALL_SECONDS,
                              .jobs = 1,
                              .runs = RUNS_DEFAULT};
    struct argp_option table[OPTIONS + 2];
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
    show_own_headers();
    if (argp_parse(&argp, argc, argv, 0, NULL, &parsing) != 0) { /* a wrong word has left before */
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    screen_silence(options.quiet);
    return options_output(command->run(&options));
}
