/* From the command line to a task: the common beginning of most commands. Errors are printed here. */
#ifndef UNSEEN_PREPARE_H
#define UNSEEN_PREPARE_H

#include "options.h"
#include "verify/session/task.h"

/* Opens problem, device, lease and contract. Returns 0; or an exit status, and then there is nothing to
 * clear. */
int prepare_task(struct task *task, const struct options *options);

/* Tells the user that another `unseen` uses the device; a callback for the lease. */
void prepare_waiting(const char *path);
void prepare_device_full(double seconds);

/* The exit status after a step of the task; 0: it succeeded. */
int prepare_step(const struct task *task, enum task_status status);

/* Determines the hardware's ceilings (--peaks names their file). Call it after the checks and before timing,
 * since it waits for the device's lease. */
int prepare_ceilings(struct task *task, const struct options *options);

/* The common part of commands on one configuration (the third argument): signals, problem, contract,
 * configuration, candidate; then calls `command`. Returns an exit status. */
int prepare_configuration(const struct options *options,
                          int (*command)(struct task *, const struct options *, const struct config *));

/* Reports an interruption, once and at the end. Returns the status. */
int prepare_end(struct task *task, int status);

/* Like options_problem, for a command that needs a definition in C: rejects an imported task, with the
 * command's name. */
int prepare_defined_problem(const char *command, const char *word, const struct problem **problem);

/* False: fewer than --min-coverage percent of the branches were taken. */
bool prepare_coverage_suffices(const struct options *options, int taken, int branches);

/* After task_build. A candidate in Python may compile for each shape, so it gets scouts only if
 * requested, or a few with --effort reward. It and an imported task get few directed configurations. */
void prepare_spare(struct task *task, const struct options *options);

#endif
