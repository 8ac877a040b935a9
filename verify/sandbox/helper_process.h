/* A helper process that is no runner and writes its output to a log: a compiler, or an importing interpreter
 * (launch.h). */
#ifndef UNSEEN_HELPER_PROCESS_H
#define UNSEEN_HELPER_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct helper_process {
    const char *const *argv;        /* the sandbox's argument vector, or the program's own; NULL-terminated */
    const char *const *environment; /* NULL-terminated */
    const char *log;                /* file for standard output and error */
    bool append;                    /* append to the log; otherwise truncate it */
    rlim_t memory, file;            /* limits in bytes on address space and on each file; 0: no limit */
};

/* Returns 0 or an errno. */
int helper_process_start(pid_t *pid, const struct helper_process *confined);

/* Returns the wait status, or -1 if it had not ended by `deadline` (clock_seconds) and was killed with its
 * session. */
int helper_process_wait(pid_t pid, double deadline);

/* The same after `timeout` seconds, not counting time without a core, but at most ten times as long; --budget
 * ends it, too. */
int helper_process_wait_starved(pid_t pid, double timeout);

#endif
