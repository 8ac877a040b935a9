/* A process that is no runner and whose output goes to a log: a compiler, an interpreter that imports (launch.h). */
#ifndef UNSEEN_CONFINED_H
#define UNSEEN_CONFINED_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct confined {
    const char *const *argv;        /* of a sandbox, or the program's own; NULL ends them */
    const char *const *environment; /* likewise */
    const char *log;                /* standard output and error */
    bool append;                    /* to what the log holds; otherwise it begins anew */
    rlim_t memory, file;            /* bytes: address space, each file; 0: no limit */
};

/* 0, or why not as an errno. */
int confined_start(pid_t *pid, const struct confined *confined);

/* The wait status; -1 where it had not ended by `deadline` (clock_seconds) and was killed. Its session is gone then. */
int confined_wait(pid_t pid, double deadline);

/* The same after `timeout` seconds in which it was not kept from the cores, ten times as many at most; --budget ends it, too. */
int confined_wait_starved(pid_t pid, double timeout);

#endif
