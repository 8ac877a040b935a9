/* The process behind a slot of unseen batch. */
#ifndef UNSEEN_CMD_LANE_H
#define UNSEEN_CMD_LANE_H

#include "options.h"

/* Gives verdicts of `verify` until the batch ends; `lanes`: their number, which share the machine's memory.
 * Returns the exit status of the last verdict; EXIT_USAGE: no batch has started this process. */
int lane_serve(const struct command *verify, const char *lanes);

#endif
