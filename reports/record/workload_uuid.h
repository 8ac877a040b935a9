/* The name of a configuration for benchmarks that name their workloads by UUIDs. */
#ifndef UNSEEN_WORKLOAD_UUID_H
#define UNSEEN_WORKLOAD_UUID_H

enum { WORKLOAD_UUID_SIZE = 37 };

/* A UUID of version 8, from a hash of both: the same configuration line always has the same one. */
void workload_uuid(char uuid[WORKLOAD_UUID_SIZE], const char *definition, const char *line);

#endif
