/* How many threads are worth starting: what this process may use of the machine, not what the machine has. */
#ifndef UNSEEN_PROCESSORS_H
#define UNSEEN_PROCESSORS_H

/* The least of the cores of the affinity mask, the quota of the cgroups that hold this process, rounded up,
 * and OMP_NUM_THREADS where it is set. At least 1. */
int processors_available(void);

/* How many of `wanted` threads are worth starting now: not more than there are cores that nobody else computes on. Looks at the
 * machine a few times a second at most, and follows its load slowly. At least 1. Whatever is computed must not depend on it. */
int processors_team(int wanted);

/* The same, of `online` cores, where `others` threads of others want one. */
int processors_share(int wanted, int online, double others);

#endif
