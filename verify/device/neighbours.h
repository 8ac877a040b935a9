/* Who else uses a GPU. Times that are taken beside others are marked, and nobody is accused by them. */
#ifndef UNSEEN_NEIGHBOURS_H
#define UNSEEN_NEIGHBOURS_H

#include "device.h"
#include "lease.h"

enum neighbours_state {
    NEIGHBOURS_UNKNOWN, /* NVML does not list processes here, and no other unseen is known */
    NEIGHBOURS_NONE,    /* it lists this process, and none but its own */
    NEIGHBOURS_SOME
};

struct neighbours {
    enum neighbours_state state;
    int count; /* SOME: other processes; 0 where they were not counted */
};

/* `children`: processes of ours, beside this one, that may have a context on the device. The host always has
 * neighbours, which share its cores and are no news: UNKNOWN there. */
struct neighbours neighbours_of(const struct device *device, struct lease *lease, int children);

enum idle { IDLE_UNKNOWN, IDLE_YES, IDLE_NO };

/* After more than NVML's window of averaging in which nothing of ours ran: was the device at rest? Takes that
 * time. */
enum idle neighbours_idle(const struct device *device);

/* What NVML is asked, as a table, so that a test can put its own in its place. */
struct nvml {
    /* Compute processes on the device, at most `most` of them in pid; returns how many, -1 where that is not
     * known. */
    int (*processes)(const char *uuid, int *pid, int most);
    int (*utilization)(const char *uuid); /* percent of the last second; -1 where that is not known */
    int settle_ms;                        /* until `utilization` has forgotten what ran */
};
void neighbours_ask(const struct nvml *nvml); /* NULL: NVML itself */
extern const struct nvml nvml_library;        /* nvml.c */

#endif
