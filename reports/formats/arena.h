/* The line of AgentKernelArena's runner protocol, arena-eval-v1: one for each action of a runner. */
#ifndef UNSEEN_ARENA_H
#define UNSEEN_ARENA_H

#include <stdio.h>

#include "reports/record/result.h"

enum arena_action { ARENA_VALIDATE, ARENA_COMPILE, ARENA_CORRECTNESS, ARENA_PERFORMANCE };

struct arena_request {
    const char *role; /* "task", "baseline", "candidate" */
    enum arena_action action;
    bool device_times; /* times are those of a device, which the protocol wants */
};

/* Reads "validate-task", or ROLE.ACTION such as "candidate.correctness". False: it is neither. */
bool arena_read(const char *text, struct arena_request *request);

/* Prints the line, and says whether the action passed. `failure` says why there is no result or none that
 * counts; NULL: the cases decide. `result` NULL: there is none. ARENA_VALIDATE lists the cases of a result
 * that has not run. */
bool arena_print(FILE *out, const struct arena_request *request, const struct result *result,
                 const char *failure);

#endif
