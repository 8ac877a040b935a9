/* Distinguishes a candidate that hangs from one that gets no CPU time. */
#ifndef UNSEEN_CPU_WAIT_H
#define UNSEEN_CPU_WAIT_H

#include <sys/types.h>

enum { CPU_WAIT_THREADS = 256 };

/* The first sample of a session's threads. */
struct cpu_wait {
    int count;
    struct {
        pid_t thread;
        double ran, waited; /* seconds so far on a core, and ready to run without a core */
    } first[CPU_WAIT_THREADS];
};

/* `session` is the pid of its leader: a runner, or the sandbox around one. */
void cpu_wait_begin(struct cpu_wait *starvation, pid_t session);

/* Seconds since cpu_wait_begin in which the session was ready to run but had no core: the mean over its
 * threads, weighted by how long each wanted a core. A sleeping or spinning thread waits for nobody. A
 * computing thread that shares a core with three others waits three quarters of the time. 0 if the kernel
 * keeps no such account (CONFIG_SCHED_INFO). */
double cpu_wait_seconds(const struct cpu_wait *starvation, pid_t session);

#endif
