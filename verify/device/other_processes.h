/* Other processes on a GPU. Times taken beside them are marked, and never used as evidence against a
 * candidate. */
#ifndef UNSEEN_OTHER_PROCESSES_H
#define UNSEEN_OTHER_PROCESSES_H

#include "device.h"
#include "lease.h"

enum other_processes_state {
    OTHER_PROCESSES_UNKNOWN, /* NVML does not list processes here, and no other unseen is known */
    OTHER_PROCESSES_NONE,    /* it lists only this process and its descendants */
    OTHER_PROCESSES_SOME
};

struct other_processes {
    enum other_processes_state state;
    int count; /* SOME: number of other processes; 0 if they were not counted */
};

/* `children`: descendants of this process that may have a context on the device. `family`: an ancestor whose
 * other descendants rest now and do not count; 0: there is none. Other processes always share the cores of
 * the host, so its state is UNKNOWN. */
struct other_processes other_processes_of(const struct device *device, struct lease *lease, int children,
                                          int family);

enum idle { IDLE_UNKNOWN, IDLE_YES, IDLE_NO };

/* Was the device idle during NVML's averaging window, in which our processes did nothing? Sleeps for that
 * window. */
enum idle other_processes_idle(const struct device *device);

/* The NVML queries as a table, so that a test can replace them. */
struct nvml {
    /* Lists compute processes on the device, at most `most` of them, in pid. Returns their number, or -1 if
     * unknown. */
    int (*processes)(const char *uuid, int *pid, int most);
    int (*utilization)(const char *uuid); /* percent of the last second; -1 if unknown */
    int settle_ms; /* milliseconds until `utilization` no longer includes earlier work */
};
void other_processes_ask(const struct nvml *nvml); /* replaces the queries; NULL: NVML itself */
extern const struct nvml nvml_library;             /* nvml.c */

#endif
