/* What the control groups that hold this process allow it, of version 2 and of version 1. */
#ifndef UNSEEN_CGROUP_H
#define UNSEEN_CGROUP_H

/* The text of /proc/self/cgroup is `membership`, and the groups lie below `root` (/sys/fs/cgroup); NULL for both: this process's
 * own. The least of what a group itself allows and those above it; infinity: there is no bound. */
double cgroup_cores(const char *membership, const char *root);  /* of CPU time in each second */
double cgroup_memory(const char *membership, const char *root); /* bytes */

#endif
