/* Shared by audit and harden of an imported task. */
#ifndef UNSEEN_TRIAL_SETUP_H
#define UNSEEN_TRIAL_SETUP_H

#include "prepare.h"
#include "verify/export/harden_trial.h"

/* Checks that the task can vary and be judged: returns 0, or an exit status after an error with the command's
 * name. */
int trial_setup_suits(const char *command, const struct problem *problem);

/* Runs a trial of moderate sizes, with planted faults or with null outputs only. If it returns 0, the task is
 * open. */
int trial_setup_begin(struct task *task, struct trial *trial, const struct options *options, bool faults);

/* unseen audit of an imported task. */
int audit_imported(const struct options *options, const struct problem *problem);

#endif
