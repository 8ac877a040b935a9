/* Tells a candidate that hangs from one that is kept from the cores. */
#ifndef UNSEEN_STARVATION_H
#define UNSEEN_STARVATION_H

#include <sys/types.h>

enum { STARVATION_THREADS = 256 };

/* A first look at the threads of a session. */
struct starvation {
    int count;
    struct {
        pid_t thread;
        double ran, waited; /* seconds so far: on a core; ready to run, and on none */
    } first[STARVATION_THREADS];
};

/* `session` is the process that leads it: a runner, or the sandbox that holds one. */
void starvation_begin(struct starvation *starvation, pid_t session);

/* For how many seconds since then the session was ready to run and had no core: of its threads' waits the
 * mean, each weighted by how long that thread wanted a core at all. A thread that sleeps or spins waits for
 * nobody, and one that computes on a core that it shares with three others waits three quarters of the time.
 * 0 where the kernel keeps no such account (CONFIG_SCHED_INFO). */
double starvation_seconds(const struct starvation *starvation, pid_t session);

#endif
