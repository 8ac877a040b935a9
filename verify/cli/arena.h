/* --arena of verify: one action of AgentKernelArena's runner protocol, whose line ends standard output. */
#ifndef UNSEEN_CLI_ARENA_H
#define UNSEEN_CLI_ARENA_H

#include "options.h"
#include "reports/record/result.h"
#include "verify/session/task.h"

/* Returns 0, or an exit status after printing an error: an action that the protocol does not have, or a
 * document that goes to standard output, too. */
int arena_check(const struct options *options);

/* Does the candidate run? Not for an action that is over once it is built. True without --arena. */
bool arena_runs(const struct options *options);

/* Prints the line, and returns the exit status, which is 0 exactly if the action passed. `status` is that of
 * the command. `task` NULL: it was not opened; `result` NULL: nothing ran. Without --arena it returns
 * `status`. */
int arena_finish(const struct options *options, const struct task *task, const struct result *result,
                 int status);

#endif
