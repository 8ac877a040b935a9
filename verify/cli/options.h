/* The command line, by argp. option_table.h has the options, and says which command takes which. */
#ifndef UNSEEN_OPTIONS_H
#define UNSEEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/draw/draw.h"
#include "problems/problem.h"
#include "reports/formats/writers.h"
#include "verify/util/version.h"

/* Exit statuses. */
enum { EXIT_GENERAL = 0, EXIT_OTHER = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3, EXIT_INTERRUPTED = 130 };

enum { ARGUMENTS_MAX = 256, LIST_MAX = 32, RUNS_DEFAULT = 60 };

enum { TAKEN_MAX = 128 };

struct option_row;
struct shared_judge;

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The values of a repeatable option. */
struct text_list {
    const char *item[LIST_MAX];
    int count;
};

struct options {
    const char *argument[ARGUMENTS_MAX];
    int arguments;
    const char *device, *seen, *space, *baseline, *regress, *cause, *like, *form, *as, *out, *vary, *python,
        *entry;
    const char *report[REPORT_COUNT]; /* the files to write; NULL: none */
    const char *format, *inputs, *inputs_as, *unseen_set;
    const char *values;      /* for check */
    const char *after;       /* for check and shrink: the configuration to call first */
    const char *shapes, *op; /* import: captured shapes, and the operation among them */
    const char *arena;       /* an action of AgentKernelArena's protocol; NULL: none */
    const char *reward, *reward_table, *db, *plot, *against, *peaks;
    bool github;
    enum color color;
    bool arguments_are_results; /* the arguments are stored results, not a problem and a candidate */
    int unseen;                 /* -1: depends on the effort */
    int scouts;                 /* number of small configurations; -1: depends on the effort */
    int directed;               /* most configurations for conditions in the code; -1: likewise */
    bool blind;                 /* none of these */
    int min_coverage;           /* percent of the candidate's branches; 0: any */
    enum effort effort;
    bool effort_given;
    uint64_t seed;
    bool seed_given;
    bool timing;       /* verify without --no-timing */
    bool timed;        /* check --timing */
    bool timing_given; /* verify: --timing beside --effort reward, which by default takes no times */
    bool no_lease;
    bool explain_given;
    bool accept_limited; /* --accept limited */
    bool explain, header, only_seen, only_unseen, fail_fast;
    bool published;
    double timeout;
    double compile_timeout; /* for a module, seconds; 0: the default */
    double memory;          /* bytes; 0: the default for this machine */
    double budget;          /* seconds; 0: none */
    double size;            /* bytes of exported inputs; 0: the default */
    int jobs, runs;
    bool verbose, quiet;
    bool scores; /* print the scores */
    bool import; /* history --import */
    bool require_sandbox;
    bool no_cache; /* compile the candidate anew, and keep nothing */
    struct text_list sources, forbid, without;
    /* for batch */
    const char *list, *results;
    bool resume, jobs_given;
    struct shared_judge *shared; /* values shared with earlier commands of this process; NULL: none */
    struct option_taken {
        const struct option_row *row; /* option_table.h */
        const char *text;             /* NULL: it has no value */
    } taken[TAKEN_MAX];               /* all options, in their order */
    int taken_count;
};

/* A command of the tool. */
struct command {
    const char *name;
    const char *arguments; /* "PROBLEM CANDIDATE" */
    int least, most;       /* minimum and maximum number of arguments */
    const char *doc;
    int (*run)(const struct options *options);
    const char *old; /* its former name, which --help does not list; NULL: none */
};

/* Parses argv[0..argc) of one command and runs it, with values of earlier ones in this process (NULL: none).
 * Usage errors end the process with status 2. If output could not be written, success becomes
 * EXIT_ENVIRONMENT. */
int options_run(const struct command *command, int argc, char **argv, struct shared_judge *shared);

/* Opens the problem with this name or in this folder. Returns 0, or an exit status after an error. */
int options_problem(const char *word, const struct problem **problem);

/* Prints an error in the tool's format on standard error: "unseen: TEXT". */
void options_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A command's exit status, taking standard output into account: a full disk must not look like success. A
 * reader that has left (`| head`) is no error. */
int options_output(int status);

int command_list(const struct options *options);
int command_describe(const struct options *options);
int command_draw(const struct options *options);
int command_export(const struct options *options);
int command_batch(const struct options *options);
int command_verify(const struct options *options);
int command_check(const struct options *options);
int command_shrink(const struct options *options);
int command_pin(const struct options *options);
int command_cover(const struct options *options);
int command_history(const struct options *options);
int command_audit(const struct options *options);
int command_harden(const struct options *options);
int command_import(const struct options *options);
int command_new(const struct options *options);
int command_selftest(const struct options *options);
int command_calibrate(const struct options *options);
int command_report(const struct options *options);
int command_compare(const struct options *options);

#endif
