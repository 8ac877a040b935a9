/* unseen compare: is a candidate worse than before? */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prepare.h"
#include "reports/json/comparison_json.h"
#include "reports/terminal/comparison_terminal.h"
#include "reports/json/json_read.h"
#include "reports/terminal/terminal.h"
#include "verify/compare/compare_baseline.h"
#include "verify/compare/compare_stored.h"
#include "verify/compare/paired_timing.h"
#include "verify/compare/compare_live.h"
#include "verify/diagnose/diagnose.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

struct showing {
    const struct options *options;
    struct task *task;
    struct comparison *comparison;
    bool progress;
    double start; /* start of the checks of one candidate, or of one round */
};

/* Extrapolates from the time so far; -1: not known yet. */
static double seconds_left(struct showing *show, int done, int count)
{
    if (done <= 1)
        show->start = clock_seconds();
    return done <= 1 ? -1 : (clock_seconds() - show->start) / (done - 1) * (count - done);
}

static void show_checks(void *data, const struct result *result, const struct config_result *latest,
                        int ready)
{
    struct showing *show = data;
    (void)latest;
    (void)ready;
    if (show->progress)
        terminal_progress(stdout, result->result_count, result->planned, 0,
                          seconds_left(show, result->result_count, result->planned));
}

static void show_round(void *data, int round, int i, int count)
{
    struct showing *show = data;
    char text[128], left[48] = "";
    if (!show->progress)
        return;
    const double seconds = seconds_left(show, i + 1, count + 1);
    if (seconds >= 0)
        snprintf(left, sizeof left, ", about %.0f s left of it", seconds);
    snprintf(text, sizeof text, "timing in turns: round %d of at most %d, sweep %d of %d%s", round, ROUNDS,
             i + 1, count, left);
    terminal_status(stdout, text);
}

static void describe(const struct task *task, const struct options *options, struct comparison *c)
{
    const struct build *const build[2] = {&task->baseline, &task->build};
    const char *const path[2] = {options->baseline, options->argument[1]};
    c->version = UNSEEN_VERSION;
    c->git = unseen_git;
    c->problem = task->problem->name;
    c->kind = COMPARISON_NOW;
    c->outcomes_only = !options->timing;
    c->seed = task->seed;
    memcpy(c->device, task->device.name, sizeof task->device.name);
    for (int i = 0; i < 2; i++) {
        snprintf(c->side[i].path, sizeof c->side[i].path, "%s", path[i]);
        memcpy(c->side[i].sha256, build[i]->sha256, sizeof build[i]->sha256);
    }
}

/* Ratios of alternating times are valid on a slow machine, too; this only informs the reader. */
static void note_ceilings(const struct task *task, struct comparison *c)
{
    const char *line = task->ceilings.note;
    for (size_t length = strcspn(line, "\n"); length > 0; length = strcspn(line, "\n")) {
        comparison_note(c, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* As in verify: waits for the lease after the checks, which do not need it. The run reports an interrupt. */
static void look_at_ceilings(void *data)
{
    struct showing *const show = data;
    (void)task_calibrate(show->task, show->options->peaks);
    note_ceilings(show->task, show->comparison);
}

/* Prints the result of a comparison that has ended. */
static int conclude(const struct options *options, const struct comparison *c)
{
    const bool terminal = isatty(STDOUT_FILENO);
    char error[1024];
    if (terminal)
        terminal_progress_clear(stdout);
    if (options->quiet)
        comparison_verdict(stdout, c, terminal);
    else
        comparison_report(stdout, c, options->verbose, terminal);
    if (options->report[REPORT_JSON] &&
        comparison_json_write(options->report[REPORT_JSON], c, error, sizeof error) != 0) {
        options_error("%s", error);
        return EXIT_ENVIRONMENT;
    }
    return c->gate == GATE_PASSED ? EXIT_GENERAL : EXIT_OTHER;
}

static int fail(enum run_status status, const char *error)
{
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    options_error("%s", error);
    return status == RUN_BAD || status == RUN_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

/* Limits for explaining failures, by the effort; --no-explain: none. */
static struct regression_rule_options cliffs_options(const struct options *options, double budget)
{
    const struct diagnose_limits limits = diagnose_limits(options->effort);
    return (struct regression_rule_options){.runs = options->explain ? limits.explain_runs : 0,
                                            .seconds = limits.seconds,
                                            .budget_seconds = budget};
}

static struct compare_live_options side_options(const struct options *options, struct showing *show)
{
    const double budget = options->effort == EFFORT_QUICK ? 0.02 : 0.04;
    return (struct compare_live_options){.run = {.timeout = options->timeout,
                                                 .memory = options->memory,
                                                 .jobs = options->jobs,
                                                 .progress = show_checks,
                                                 .progress_data = show,
                                                 .before_timing = look_at_ceilings},
                                         .timing = options->timing,
                                         .cliffs = cliffs_options(options, budget),
                                         .budget_seconds = budget,
                                         .progress = show_round,
                                         .progress_data = show};
}

/* --- the file --- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Checks that the file is none of the compared ones and can be written, before minutes are spent. */
static int open_json(const struct options *options)
{
    static const struct comparison nothing = {.gate = GATE_INCONCLUSIVE,
                                              .notes = "the comparison is not finished"};
    char error[1024];
    struct stat status;
    for (int i = 0; options->report[REPORT_JSON] && i < options->arguments; i++)
        if (is_same_file(options->report[REPORT_JSON], options->argument[i])) {
            options_error("--json %s is what is compared; expected a file of its own\n---> give another path",
                          options->report[REPORT_JSON]);
            return EXIT_USAGE;
        }
    if (options->report[REPORT_JSON] && options->against &&
        is_same_file(options->report[REPORT_JSON], options->against)) {
        options_error("--json %s is the stored result; expected a file of its own\n---> give another path",
                      options->report[REPORT_JSON]);
        return EXIT_USAGE;
    }
    if (!options->report[REPORT_JSON] ||
        (stat(options->report[REPORT_JSON], &status) == 0 && !S_ISREG(status.st_mode)) ||
        comparison_json_write(options->report[REPORT_JSON], &nothing, error, sizeof error) == 0)
        return 0;
    options_error("%s", error);
    return EXIT_ENVIRONMENT;
}

/* --- two candidates --- */

static int run_now(struct task *task, const struct options *options)
{
    const double start = clock_seconds();
    struct comparison c = {.problem = NULL};
    struct showing show = {options, task, &c, isatty(STDOUT_FILENO) && !options->quiet, 0};
    const struct compare_live_options side = side_options(options, &show);
    char error[1024] = "";
    describe(task, options, &c);
    c.outcomes_only = !options->timing;
    if (strcmp(c.side[0].sha256, c.side[1].sha256) == 0)
        comparison_note(&c, "both are the same kernel: differences come from this machine");
    if (!options->quiet)
        comparison_header(stdout, &c);
    const enum run_status status = compare_live(task, &side, &c, error, sizeof error);
    c.seconds = clock_seconds() - start;
    const int code = status == RUN_DONE ? conclude(options, &c) : fail(status, error);
    free(c.item);
    return code;
}

static int compare_now(const struct options *given)
{
    struct options options = *given;
    struct task task;
    options.baseline = given->argument[1];
    options.argument[1] = given->argument[2];
    int status = open_json(given);
    if (status == 0)
        status = prepare_task(&task, &options);
    if (status != 0)
        return status;
    status = prepare_step(&task, task_build(&task));
    if (status == 0)
        status = prepare_step(&task, task_draw(&task));
    if (status == 0 && is_interrupted())
        status = EXIT_INTERRUPTED;
    if (status == 0)
        status = run_now(&task, &options);
    return prepare_end(&task, status);
}

/* --- stored results --- */

static int read_stored(const char *path, struct stored_result *stored)
{
    char error[1024];
    const enum json_read_status status = json_read(path, stored, error, sizeof error);
    if (status == JSON_READ_OK)
        return 0;
    options_error("%s", error);
    return status == JSON_READ_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

static void describe_stored(const struct result *result, struct comparison_side *side)
{
    memcpy(side->path, result->candidate_path, sizeof side->path);
    memcpy(side->sha256, result->candidate_sha256, sizeof side->sha256);
}

static int compare_results(const struct options *options, const struct stored_result *stored)
{
    const struct result *const old = &stored[0].result, *const new = &stored[1].result;
    struct comparison c = {
        .version = UNSEEN_VERSION, .git = unseen_git, .problem = new->problem, .seed = new->seed};
    const double start = clock_seconds();
    char error[1024];
    const enum compare_stored_status status = matched(old, new, options->argument, &c, error, sizeof error);
    int code = status == COMPARE_STORED_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    describe_stored(old, &c.side[0]);
    describe_stored(new, &c.side[1]);
    memcpy(c.device, new->device, sizeof c.device);
    c.seconds = clock_seconds() - start;
    if (status != COMPARE_STORED_OK) {
        options_error("%s", error);
    } else {
        if (!options->quiet)
            comparison_header(stdout, &c);
        code = conclude(options, &c);
    }
    free(c.item);
    return code;
}

static int compare_stored(const struct options *options)
{
    const char *const *path = options->argument;
    struct stored_result stored[2];
    if (is_same_file(path[0], path[1])) {
        options_error("%s and %s are the same result; expected two\n---> name the old result and the new one",
                      path[0], path[1]);
        return EXIT_USAGE;
    }
    int status = open_json(options);
    if (status == 0)
        status = read_stored(path[0], &stored[0]);
    if (status != 0)
        return status;
    status = read_stored(path[1], &stored[1]);
    if (status == 0) {
        status = compare_results(options, stored);
        json_read_free(&stored[1]);
    }
    json_read_free(&stored[0]);
    return status;
}

/* --- a candidate against a stored result --- */

static int check_against(const struct task *task, const struct result *old, const char *path)
{
    struct result new = {.problem = task->problem->name};
    const char *const name[2] = {path, "this run"};
    char error[1024];
    memcpy(new.device, task->device.name, sizeof task->device.name);
    if (compare_stored_check(old, &new, name, error, sizeof error) == COMPARE_STORED_OK)
        return 0;
    options_error("%s", error);
    return EXIT_USAGE;
}

/* Rejects a stored result without it: nothing would tell the speed of the machine on that day. */
static int check_baseline(const struct task *task, const struct result *old, const char *path)
{
    if (!old->baseline.own)
        options_error("%s has no times of the problem's own baseline, which say how fast the machine was; "
                      "expected some\n"
                      "---> make it by: unseen verify %s CANDIDATE --baseline own --json FILE",
                      path, task->problem->name);
    else if (strcmp(old->baseline.sha256, task->baseline.sha256) != 0)
        options_error(
            "%s was timed beside another baseline (sha256 %.16s) than %s (%.16s); expected the same\n"
            "---> make it again with this version, from the old candidate",
            path, old->baseline.sha256, task->baseline_path, task->baseline.sha256);
    else
        return 0;
    return EXIT_USAGE;
}

static int run_against(struct task *task, const struct options *options, const struct result *old)
{
    const double start = clock_seconds();
    struct comparison c = {.problem = NULL};
    struct showing show = {options, task, &c, isatty(STDOUT_FILENO) && !options->quiet, 0};
    const struct compare_live_options side = side_options(options, &show);
    char error[1024] = "";
    describe(task, options, &c);
    describe_stored(old, &c.side[0]);
    c.kind = COMPARISON_DRIFT;
    c.outcomes_only = !options->timing;
    if (!options->quiet)
        comparison_header(stdout, &c);
    const enum run_status status = compare_against_stored(task, old, &side, &c, error, sizeof error);
    c.seconds = clock_seconds() - start;
    const int code = status == RUN_DONE ? conclude(options, &c) : fail(status, error);
    free(c.item);
    return code;
}

static int begin_against(const struct options *options, const struct result *old)
{
    struct task task;
    int status = prepare_task(&task, options);
    if (status != 0)
        return status;
    status = check_against(&task, old, options->against);
    if (status == 0)
        status = prepare_step(&task, task_build(&task));
    if (status == 0 && options->timing)
        status = check_baseline(&task, old, options->against);
    if (status == 0)
        status = prepare_step(&task, compare_sets(&task, old, options->against));
    if (status == 0 && is_interrupted())
        status = EXIT_INTERRUPTED;
    if (status == 0)
        status = run_against(&task, options, old);
    return prepare_end(&task, status);
}

static int compare_against(const struct options *given)
{
    struct options options = *given;
    struct stored_result stored;
    options.baseline = given->timing ? "own" : NULL;
    if (given->seed_given || given->only_unseen || given->seen) {
        options_error("--%s beside --against; the configurations are those of %s\n---> leave it out",
                      given->seed_given ? "seed"
                      : given->seen     ? "seen"
                                        : "unseen",
                      given->against);
        return EXIT_USAGE;
    }
    int status = open_json(given);
    if (status == 0)
        status = read_stored(given->against, &stored);
    if (status != 0)
        return status;
    status = begin_against(&options, &stored.result);
    json_read_free(&stored);
    return status;
}

/* --- choice of the three forms --- */

static int refuse(const struct options *options)
{
    options_error(
        "found %d arguments%s; expected PROBLEM OLD NEW, OLD.json NEW.json, or PROBLEM CANDIDATE --against "
        "RESULT.json\n---> unseen compare --help",
        options->arguments, options->against ? " and --against" : "");
    return EXIT_USAGE;
}

static bool is_json(const char *path)
{
    const size_t length = strlen(path);
    struct stat status;
    return (length > 5 && strcmp(path + length - 5, ".json") == 0) || strcmp(path, "-") == 0 ||
           (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)));
}

int command_compare(const struct options *options)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    if (options->arguments == 2 && !options->against)
        return is_json(options->argument[0]) && is_json(options->argument[1]) ? compare_stored(options)
                                                                              : refuse(options);
    catch_signals(child_stop_all);
    if (options->against)
        return options->arguments == 2 ? compare_against(options) : refuse(options);
    return compare_now(options);
}
