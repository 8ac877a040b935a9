/* Resource limits of the control groups that contain this process, versions 1 and 2. */
#ifndef UNSEEN_CGROUP_H
#define UNSEEN_CGROUP_H

/* `membership` is the text of /proc/self/cgroup, and the groups are below `root` (/sys/fs/cgroup); NULL for
 * both: this process's own. Returns the smallest limit of the group and its ancestors; infinity: no limit. */
double cgroup_cores(const char *membership, const char *root);  /* seconds of CPU time per second */
double cgroup_memory(const char *membership, const char *root); /* bytes */

#endif
