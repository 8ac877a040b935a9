/* The one place where processes are started, waited for and ended: runners, the oracle, compilers, interpreters that import,
 * and the question whether the sandbox works. Each leads a session of its own, so that one kill reaches what it starts, stands
 * in child_table until it has been reaped, and has its limits before its first instruction: what it forks at once has them
 * too. */
#ifndef UNSEEN_LAUNCH_H
#define UNSEEN_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
    const char *const *argv;        /* the program by its path, or by a name on PATH */
    const char *const *environment; /* NULL: this process's own */
    int output;                     /* a descriptor of ours that becomes 1, and 2 */
    bool quiet;                     /* what goes to 2 is dropped */
    bool channelled;
    int channel;   /* becomes 3, if `channelled`; nothing else above 2 is open there */
    rlim_t memory; /* bytes of address space; 0: no limit of ours */
    rlim_t file;   /* bytes of each file; likewise. No core is ever written */
};

/* 0, or why not as an errno. No signal is blocked, ignored or handled in what was started; 0 reads nothing. A limit above what
 * this process may set is that of this process. */
int launch_start(pid_t *pid, const struct launch *launch);

/* The same with a channel and an output that are made for it; `ours` are this side's ends (launch_pipes). *pidfd: readable when
 * it ends; -1 where the kernel has none. */
int launch_channelled(pid_t *pid, int *pidfd, int ours[2], const struct launch *launch);

/* True: it has ended, by `deadline` (clock_seconds); it is still to be reaped. */
bool launch_wait(pid_t pid, double deadline);

/* Ends it and its session, reaps it, and ends what it has left elsewhere (child_table). The wait status. */
int launch_end(pid_t pid);

/* A channel and an output: the ends of this side (channel, output; the second does not block), then those of the other. 0, or
 * an errno, and none is open. */
int launch_pipes(int ours[2], int theirs[2]);

/* What a program needs to find its libraries and device, and nothing else of the user's environment: a seed in a variable must
 * not reach it. Strings from malloc, at most LAUNCH_WORDS; how many, -1 where memory is out. `path`: PATH, a USER and a HOME that is
 * nowhere, too. threads 0: as it likes. */
enum { LAUNCH_WORDS = 8 };
int launch_environment(char **environment, bool path, int threads);

#endif
