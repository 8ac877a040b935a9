/* The only place that starts, waits for and ends processes: runners, the oracle, compilers, importing
 * interpreters, and the sandbox probe. Each process leads its own session, so that one kill reaches its
 * descendants. It is in child_table until it is reaped. Its limits apply from its first instruction, so they
 * also hold for its early forks. */
#ifndef UNSEEN_LAUNCH_H
#define UNSEEN_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
    const char *const *argv;        /* the program's path, or its name on PATH */
    const char *const *environment; /* NULL: the environment of this process */
    int output;                     /* descriptor of ours that becomes its 1 and 2 */
    bool quiet;                     /* discard its standard error */
    bool bound;                     /* kill it when this process dies */
    bool channelled;
    int channel;   /* becomes descriptor 3 if `channelled`; nothing else above 2 is open there */
    rlim_t memory; /* maximum address space in bytes; 0: no limit of ours */
    rlim_t file;   /* maximum bytes per file; 0: no limit of ours. Core files are never written */
};

/* Returns 0 or an errno. In the new process no signal is blocked, ignored or handled, and descriptor 0 is
 * empty. A limit above this process's own is reduced to that. */
int launch_start(pid_t *pid, const struct launch *launch);

/* The same with a new channel and output; `ours` are this side's ends (launch_pipes). *pidfd is readable when
 * it ends; -1 if the kernel lacks pidfds. */
int launch_channelled(pid_t *pid, int *pidfd, int ours[2], const struct launch *launch);

/* True if it has ended by `deadline` (clock_seconds); the caller must still reap it. */
bool launch_wait(pid_t pid, double deadline);

/* Kills it and its session, reaps it, and kills what it left elsewhere (child_table). Returns the wait
 * status. */
int launch_end(pid_t pid);

/* Creates a channel and an output: first this side's ends (channel, output; the second does not block), then
 * the other side's. Returns 0, or an errno with nothing open. */
int launch_pipes(int ours[2], int theirs[2]);

/* Builds a minimal environment: enough to find libraries and the device, and nothing else of the user's. For
 * example, a seed in a variable must not reach the program. Strings are allocated by malloc, at most
 * LAUNCH_WORDS. Returns their number, or -1 when out of memory. `path` adds PATH, a USER, and a HOME that
 * does not exist. threads 0: no OMP_NUM_THREADS. */
enum { LAUNCH_WORDS = 8 };
int launch_environment(char **environment, bool path, int threads);

#endif
