#include "prepare.h"

#include <signal.h>

#include "outputs.h"
#include "show.h"
#include "verify/session/timeout_budget.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"

void prepare_waiting(const char *path)
{
    options_error("waiting for another unseen that is timing on this device (%s)\n"
                  "---> --no-lock does not wait, and the times of both are then worth little",
                  path);
}

void prepare_device_full(double seconds)
{
    options_error("other programs hold all the memory of this GPU: waiting for it, %g s at most\n"
                  "---> nvidia-smi lists them; --device cuda:N takes another GPU",
                  seconds);
}

/* Number of small configurations. None are added if the user gave the unseen set or its size: expected values
 * of an imported task take longer than small tensors are worth. */
static int scouts_of(const struct options *options, const struct problem *problem)
{
    if (options->scouts >= 0)
        return options->scouts;
    if (problem->task && options->effort == EFFORT_REWARD && options->unseen < 0 && !options->unseen_set)
        return effort_scouts_few();
    return options->unseen >= 0 || options->unseen_set || problem->task ? 0 : effort_scouts(options->effort);
}

/* Most directed configurations. Python candidates may compile for each shape. */
static int directed_of(const struct options *options)
{
    if (options->blind || options->unseen_set)
        return 0;
    if (options->directed >= 0)
        return options->directed;
    return options->unseen >= 0 ? 0 : effort_directed(options->effort);
}

static struct task_options task_options(const struct options *options, const struct problem *problem)
{
    return (struct task_options){.problem = problem,
                                 .device = options->device,
                                 .space = options->space,
                                 .seen = options->seen,
                                 .regress = options->regress,
                                 .unseen_set = options->unseen_set,
                                 .candidate = options->argument[1],
                                 .baseline = options->baseline,
                                 .python = options->python,
                                 .entry = options->entry,
                                 .compile_timeout = options->compile_timeout,
                                 .timeout_seconds = timeout_budget_seconds(options->effort),
                                 .count =
                                     options->unseen >= 0 ? options->unseen : effort_count(options->effort),
                                 .scouts = scouts_of(options, problem),
                                 .directed = directed_of(options),
                                 .seen_most = options->effort == EFFORT_REWARD && !options->seen ? 1 : 0,
                                 .seed = options->seed,
                                 .has_seed = options->seed_given,
                                 .shared = options->shared,
                                 .attend = options->no_lease,
                                 .waiting = options->quiet ? NULL : prepare_waiting,
                                 .device_full = options->quiet ? NULL : prepare_device_full};
}

int prepare_step(const struct task *task, enum task_status status)
{
    if (status == TASK_INPUT || status == TASK_ENVIRONMENT)
        options_error("%s", task->error);
    return status == TASK_OK            ? 0
           : status == TASK_INPUT       ? EXIT_USAGE
           : status == TASK_ENVIRONMENT ? EXIT_ENVIRONMENT
                                        : EXIT_INTERRUPTED;
}

int prepare_task(struct task *task, const struct options *options)
{
    const struct problem *problem;
    int status = options_problem(options->argument[0], &problem);
    if (status != 0)
        return status;
    const struct task_options asked = task_options(options, problem);
    status = prepare_step(task, task_open(task, &asked));
    if (status == 0)
        status = prepare_step(task, task_contract(task));
    if (status == 0 && options->published && task->space.tolerance.given) {
        options_error(
            "%s has a tolerance of its own, and --tolerance published was found; expected one of them\n"
            "---> leave out the option: ours decides, and that one is judged beside it",
            task->space_path);
        status = EXIT_USAGE;
    }
    if (status != 0)
        task_clear(task);
    return status;
}

int prepare_configuration(const struct options *options,
                          int (*command)(struct task *, const struct options *, const struct config *))
{
    struct task task;
    struct config config;
    catch_signals(child_stop_all);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    int status = outputs_check(options);
    if (status != 0)
        return status;
    show_away(options);
    status = prepare_task(&task, options);
    if (status != 0)
        return status;
    status = prepare_step(&task, task_config(&task, options->argument[2], &config));
    if (status == 0)
        status = prepare_step(&task, task_build(&task));
    if (status == 0)
        status = command(&task, options, &config);
    return prepare_end(&task, status);
}

int prepare_ceilings(struct task *task, const struct options *options)
{
    return prepare_step(task, task_calibrate(task, options->peaks));
}

int prepare_end(struct task *task, int status)
{
    if (status == EXIT_INTERRUPTED)
        options_error("interrupted");
    task_clear(task);
    return status;
}

int prepare_defined_problem(const char *command, const char *word, const struct problem **problem)
{
    const int status = options_problem(word, problem);
    if (status != 0 || !(*problem)->task)
        return status;
    options_error(
        "%s is an imported task; %s works on problems whose mathematics is written in C (reference.h)\n"
        "---> `unseen list` says which there are; verify, check, shrink, draw and describe take tasks",
        word, command);
    return EXIT_USAGE;
}

bool prepare_coverage_suffices(const struct options *options, int taken, int branches)
{
    return 100.0 * taken >= (double)options->min_coverage * branches;
}

void prepare_spare(struct task *task, const struct options *options)
{
    const bool python = build_python(&task->build) != NULL;
    if (python && options->scouts < 0)
        task->options.scouts = options->effort == EFFORT_REWARD ? effort_scouts_few() : 0;
    if ((python || task->problem->task) && options->directed < 0 && task->options.directed > 0)
        task->options.directed = effort_directed_few();
}
