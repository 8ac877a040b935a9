/* How many threads are worth starting: what this process may use of the machine, not what the machine has. */
#ifndef UNSEEN_PROCESSORS_H
#define UNSEEN_PROCESSORS_H

/* The least of the cores of the affinity mask, the quota of the cgroups that hold this process, rounded up,
 * and OMP_NUM_THREADS where it is set. At least 1. */
int processors_available(void);

/* The CPU quota, in cores, of the cgroups that `membership` names (the text of /proc/self/cgroup), found
 * under `root`
 * (/sys/fs/cgroup); the least of a group's own and of those above it. Infinity: none. */
double processors_quota(const char *membership, const char *root);

#endif
