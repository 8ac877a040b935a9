/* Number of threads worth starting: limited by what this process may use, not by the size of the machine. */
#ifndef UNSEEN_PROCESSORS_H
#define UNSEEN_PROCESSORS_H

/* The least of: cores of the affinity mask, the CPU quota of its control groups (rounded up), and
 * OMP_NUM_THREADS if set. At least 1. */
int processors_available(void);

/* How many of `wanted` threads are worth starting now: at most the number of cores that other processes leave
 * free. It samples the load at most a few times per second, and smooths it. At least 1. Results must not
 * depend on it. */
int processors_team(int wanted);

/* The same for `online` cores, of which `others` threads of other processes want one each. */
int processors_share(int wanted, int online, double others);

#endif
