/* What audit and harden of an imported task have in common. */
#ifndef UNSEEN_TRIED_H
#define UNSEEN_TRIED_H

#include "begin.h"
#include "verify/harden/trial.h"

/* A task that can vary and be judged: 0, or an exit status after an error in the command's name. */
int tried_suits(const char *command, const struct problem *problem);

/* From options to a trial of moderate sizes that has been run, with planted faults or with null outputs alone. The task is open where
 * 0 comes back. */
int tried_begin(struct task *task, struct trial *trial, const struct options *options, bool faults);

/* unseen audit of an imported task. */
int audit_imported(const struct options *options, const struct problem *problem);

#endif
