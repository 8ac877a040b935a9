/* A helper process that is no runner and writes its output to a log: a compiler, or an importing interpreter
 * (launch.h). */
#ifndef UNSEEN_CONFINED_H
#define UNSEEN_CONFINED_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct confined {
    const char *const *argv;        /* the sandbox's argument vector, or the program's own; NULL-terminated */
    const char *const *environment; /* NULL-terminated */
    const char *log;                /* file for standard output and error */
    bool append;                    /* append to the log; otherwise truncate it */
    rlim_t memory, file;            /* limits in bytes on address space and on each file; 0: no limit */
};

/* Returns 0 or an errno. */
int confined_start(pid_t *pid, const struct confined *confined);

/* Returns the wait status, or -1 if it had not ended by `deadline` (clock_seconds) and was killed with its
 * session. */
int confined_wait(pid_t pid, double deadline);

/* The same after `timeout` seconds, not counting time without a core, but at most ten times as long; --budget
 * ends it, too. */
int confined_wait_starved(pid_t pid, double timeout);

#endif
