/* Resources used by the processes of a candidate: the runner and all its descendants. They are counted from
 * outside for these processes only. Without privileges, the system's own limits cover either one process
 * (RLIMIT_AS, which also counts the addresses that CUDA reserves) or all processes of a user
 * (RLIMIT_NPROC). */
#ifndef UNSEEN_RESOURCE_USAGE_H
#define UNSEEN_RESOURCE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct resource_usage {
    double bytes; /* private main memory: anonymous, shared, swapped out */
    int tasks;    /* processes and threads */
};

/* `leader`: the process that stands for the runner. `lent`: shared memory of the judge that each process may
 * map, in bytes, which is not counted. Counting stops once it exceeds `most`; by then pages shared by a fork
 * are counted only once. */
struct resource_usage resource_usage_of(pid_t leader, double lent, const struct resource_usage *most);

/* Shortest time in seconds from `now` until `most` can be reached. */
double resource_usage_reach(const struct resource_usage *now, const struct resource_usage *most);

/* Describes an excess over `most`: the amount found and the limit, both without what was there `before`.
 * False: there is no excess. */
bool resource_usage_exceeds(const struct resource_usage *now, const struct resource_usage *most,
                            const struct resource_usage *before, char *text, size_t text_size);

/* Default limits without --memory: half of the main memory available to this process. The limit on processes
 * and threads allows several pools of one thread per core, but less than a machine's maximum. */
struct resource_usage resource_usage_default(void);
/* The share of one of several workers: an equal part, but at least 4 GiB, or all if that is less. */
double resource_usage_of_worker(int workers);

#endif
