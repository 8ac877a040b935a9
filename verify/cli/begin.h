/* From the command line to a task: what most commands begin with. Errors are printed here. */
#ifndef UNSEEN_BEGIN_H
#define UNSEEN_BEGIN_H

#include "options.h"
#include "verify/session/task.h"

/* Problem, device, lease and contract. Returns 0; or an exit status, and then there is nothing to clear. */
int begin_task(struct task *task, const struct options *options);

/* Says that another unseen has the device: what a lease is opened with. */
void begin_waiting(const char *path);
void begin_device_full(double seconds);

/* The exit status of a step of the task; 0: it is done. */
int begin_step(const struct task *task, enum task_status status);

/* What the hardware can do, after the checks and before times are taken, since it waits for the device's lease; --peaks names its
 * file. */
int begin_ceilings(struct task *task, const struct options *options);

/* What commands on one configuration (the third argument) have in common: signals, problem, contract, configuration,
 * candidate; then `command`. Returns an exit status. */
int begin_configuration(const struct options *options,
                        int (*command)(struct task *, const struct options *, const struct config *));

/* An interruption is said last, once. Returns the status. */
int begin_end(struct task *task, int status);

/* As options_problem, for a command that needs a definition in C: an imported task is refused, in the command's name. */
int begin_defined_problem(const char *command, const char *word, const struct problem **problem);

#endif
