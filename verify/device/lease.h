/* The exclusive right to time on a device, for one `unseen` process at a time: two processes that time at
 * once
 * disturb each other's measurements.
 *
 * A lease is an exclusive flock on DIRECTORY/unseen-DEVICE.lease, where DEVICE is `host` or the GPU's UUID.
 * The lock ends with its holder, even after a crash. DIRECTORY is /run/lock (a tmpfs for this purpose) if all
 * users may write there, else /tmp. It is not $XDG_RUNTIME_DIR, which belongs to one user, since users share
 * a device. Other programs can take part: `flock /run/lock/unseen-GPU-....lease COMMAND`.
 *
 * Two more files give fairness. A process first takes `.turn`, and holds it while it waits for the lease. So
 * a process that gives the lease back and wants it again queues behind all waiting ones. Every `unseen` on
 * the device holds a shared lock on `.users` from beginning to end, so the holder of the lease can tell
 * whether it is alone. Locks are taken in the order turn, lease, and a process holds one lease at a time. */
#ifndef UNSEEN_LEASE_H
#define UNSEEN_LEASE_H

#include <stdbool.h>
#include <stddef.h>

struct lease;

struct lease_options {
    const char *directory; /* NULL: DIRECTORY as above */
    const char *device;    /* "host" or a UUID */
    /* Called once with the lease's path, when another process has held it for a while; NULL: wait
     * silently. */
    void (*waiting)(const char *path);
    bool attend; /* --no-lock: register as a user of the device, but never wait */
};

/* Returns NULL, and why, if the files cannot be opened. All functions below accept NULL as a lease that is
 * available at once and knows nothing of other processes. */
struct lease *lease_open(const struct lease_options *options, char *why, size_t why_size);
void lease_close(struct lease *lease);

/* Waits for the lease. A holder keeps it without polling: the next process already holds the turn. False: the
 * user interrupted. */
bool lease_take(struct lease *lease);
void lease_give(struct lease *lease);

bool lease_is_held(const struct lease *lease);
/* Only while the lease is held: true if no other `unseen` uses the device. False if unknown. */
bool lease_is_alone(struct lease *lease);

double lease_waited(const struct lease *lease); /* total seconds of waiting */

#endif
