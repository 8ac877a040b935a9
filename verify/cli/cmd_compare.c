/* unseen compare: is it worse than it was? */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "begin.h"
#include "reports/comparison_terminal.h"
#include "reports/terminal.h"
#include "verify/compare/side_by_side.h"
#include "verify/isolate/child.h"
#include "verify/system/budget.h"
#include "verify/system/clock.h"
#include "verify/system/interrupt.h"

struct showing {
    const struct options *options;
    bool progress;
};

static void show_checks(void *data, const struct result *result, const struct config_result *latest,
                        int ready)
{
    const struct showing *show = data;
    (void)latest;
    (void)ready;
    if (show->progress)
        terminal_progress(stdout, result->result_count, result->planned, 0, -1);
}

static void show_round(void *data, int round, int i, int count)
{
    const struct showing *show = data;
    if (!show->progress)
        return;
    terminal_progress_clear(stdout);
    printf("timing in turns: round %d of at most 3, sweep %d of %d", round, i + 1, count);
    fflush(stdout);
}

static void describe(const struct task *task, const struct options *options, struct comparison *c)
{
    const struct build *const build[2] = {&task->baseline, &task->build};
    const char *const path[2] = {options->baseline, options->argument[1]};
    c->version = UNSEEN_VERSION;
    c->git = unseen_git;
    c->problem = task->problem->name;
    c->kind = COMPARISON_NOW;
    c->seed = task->seed;
    memcpy(c->device, task->device.name, sizeof task->device.name);
    for (int i = 0; i < 2; i++) {
        snprintf(c->side[i].path, sizeof c->side[i].path, "%s", path[i]);
        memcpy(c->side[i].sha256, build[i]->sha256, sizeof build[i]->sha256);
    }
}

static int exit_status(const struct comparison *c)
{
    return c->gate == GATE_PASSED ? EXIT_GENERAL : EXIT_OTHER;
}

static int conclude(const struct options *options, const struct comparison *c, bool terminal)
{
    if (terminal)
        terminal_progress_clear(stdout);
    if (options->quiet)
        comparison_verdict(stdout, c, terminal);
    else
        comparison_report(stdout, c, options->verbose, terminal);
    return exit_status(c);
}

static int run_now(struct task *task, const struct options *options)
{
    static const double budget[] = {[EFFORT_QUICK] = 0.02, [EFFORT_STANDARD] = 0.04, [EFFORT_DEEP] = 0.04};
    const bool terminal = isatty(STDOUT_FILENO);
    const double start = clock_seconds();
    struct showing show = {options, terminal && !options->quiet};
    const struct side_options side = {.run = {.timeout = options->timeout,
                                              .memory = options->memory,
                                              .jobs = options->jobs,
                                              .progress = show_checks,
                                              .progress_data = &show},
                                      .timing = options->timing,
                                      .budget_seconds = budget[options->effort],
                                      .progress = show_round,
                                      .progress_data = &show};
    struct comparison c = {.problem = NULL};
    char error[1024] = "";
    describe(task, options, &c);
    if (!options->quiet)
        comparison_header(stdout, &c);
    const enum run_status status = side_by_side(task, &side, &c, error, sizeof error);
    c.seconds = clock_seconds() - start;
    int code = EXIT_INTERRUPTED;
    if (status == RUN_DONE) {
        code = conclude(options, &c, terminal);
    } else if (status != RUN_INTERRUPTED) {
        options_error("%s", error);
        code = status == RUN_BAD ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    free(c.item);
    return code;
}

static int compare_now(const struct options *given)
{
    struct options options = *given;
    struct task task;
    options.baseline = given->argument[1];
    options.argument[1] = given->argument[2];
    int status = begin_task(&task, &options);
    if (status != 0)
        return status;
    status = begin_step(&task, task_build(&task));
    if (status == 0)
        status = begin_step(&task, task_draw(&task));
    if (status == 0 && is_interrupted())
        status = EXIT_INTERRUPTED;
    if (status == 0)
        status = run_now(&task, &options);
    return begin_end(&task, status);
}

int command_compare(const struct options *options)
{
    if (options->budget > 0)
        budget_begin(options->budget);
    catch_signals(child_stop_all);
    signal(SIGPIPE, SIG_IGN);
    return compare_now(options);
}
