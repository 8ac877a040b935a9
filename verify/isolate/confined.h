/* A process that is no runner and whose output goes to a log: a compiler, an interpreter that imports. It is in a group of its
 * own, so that one kill reaches what it starts, and in child_table until it has been waited for. */
#ifndef UNSEEN_CONFINED_H
#define UNSEEN_CONFINED_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* The descriptor on which a sandbox waits (sandbox_end) until the limits hold. */
enum { CONFINED_GATE = 3 };

struct confined {
    const char *const *argv;        /* of a sandbox, or the program's own; NULL ends them */
    const char *const *environment; /* likewise */
    const char *log;                /* standard output and error */
    bool append;                    /* to what the log holds; otherwise it begins anew */
    bool limited;                   /* the next two hold, and no core is written */
    rlim_t memory, file;            /* bytes: address space, each file */
};

/* 0, or why not as an errno. */
int confined_start(pid_t *pid, const struct confined *confined);

/* The wait status; -1 where it had not ended by `deadline` (clock_seconds) and was killed. Its group is gone then. */
int confined_wait(pid_t pid, double deadline);

#endif
