/* unseen cover: the branches of a candidate that no configuration takes */
#include <stdio.h>

#include "prepare.h"
#include "verify/coverage/branch_coverage.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"
#include "verify/worker/child.h"

static void print_table(const struct branch_coverage *coverage, bool verbose)
{
    const struct branches *const all = &coverage->branches;
    char text[256];
    for (int i = 0; i < all->count; i++) {
        if (all->branch[i].taken && !verbose)
            continue;
        branch_format(all, &all->branch[i], text, sizeof text);
        printf("%s  %s\n", all->branch[i].taken ? "taken" : "never", text);
    }
}

static void print_added(const struct task *task, int added)
{
    char line[1024];
    for (int i = task->unseen_set.count - added; i < task->unseen_set.count; i++) {
        config_format(&task->unseen_set.item[i].config, line, sizeof line);
        printf("added  %s  # %s\n", line, task->unseen_set.item[i].why);
    }
}

static int print(const struct branch_coverage *coverage, const struct task *task,
                 const struct options *options)
{
    const int taken = branches_taken(&coverage->branches);
    if (!coverage->present) {
        options_error("%s\n---> `unseen verify` judges it without a coverage",
                      coverage->note[0] ? coverage->note : "no coverage: no configuration could be called");
        return coverage->machine ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
    if (!options->quiet) {
        print_table(coverage, options->verbose);
        print_added(task, coverage->steered);
    }
    printf("reached %d of %d branches in %d of %d configurations, %d of them added for branches\n", taken,
           coverage->branches.count, coverage->called, coverage->configurations + coverage->steered,
           coverage->steered);
    if (coverage->note[0])
        printf("%s\n", coverage->note);
    return prepare_coverage_suffices(options, taken, coverage->branches.count) ? EXIT_GENERAL : EXIT_OTHER;
}

int command_cover(const struct options *options)
{
    struct task task;
    catch_signals(child_stop_all);
    int status = prepare_task(&task, options);
    if (status != 0)
        return status;
    status = prepare_step(&task, task_build(&task));
    if (status == 0)
        prepare_spare(&task, options);
    if (status == 0)
        status = prepare_step(&task, task_draw(&task));
    if (status == 0) {
        struct branch_coverage coverage;
        struct branch_limits limits = branch_limits(options->effort, true);
        limits.memory = options->memory;
        limits.steered = options->blind ? 0 : limits.steered;
        if (branch_coverage_open(&coverage, &task, &limits) == 0)
            status = print(&coverage, &task, options);
        else
            status = is_interrupted() ? EXIT_INTERRUPTED : EXIT_ENVIRONMENT;
        if (status == EXIT_ENVIRONMENT)
            options_error("out of memory while counting branches");
        branch_coverage_close(&coverage);
    }
    return prepare_end(&task, status);
}
