/* The right to time on a device, one `unseen` at a time: whoever times beside another measures the other,
 * too.
 *
 * A lease is an exclusive flock on DIRECTORY/unseen-DEVICE.lease, where DEVICE is `host` or the GPU's UUID,
 * and so ends with its holder, however that ends. DIRECTORY is /run/lock where everybody may write there
 * (tmpfs, for just this), else /tmp: not $XDG_RUNTIME_DIR, which is one user's, since users share a device.
 * Other programs can take part: `flock /run/lock/unseen-GPU-....lease COMMAND`.
 *
 * Two more files stand beside it. Who wants the lease first takes `.turn`, and waits for the lease with that
 * in hand: one who gives the lease back and wants it again comes after all who are waiting then. `.users` is
 * locked, shared, by every `unseen` on the device from beginning to end: so the holder of the lease can tell
 * whether it is alone. Locks are taken in the order turn, lease, and a process holds one lease at a time. */
#ifndef UNSEEN_LEASE_H
#define UNSEEN_LEASE_H

#include <stdbool.h>
#include <stddef.h>

struct lease;

struct lease_options {
    const char *directory; /* NULL: as above */
    const char *device;    /* "host" or a UUID */
    /* Told once, with the path of the lease, when another has kept it for a while; NULL: wait without a word. */
    void (*waiting)(const char *path);
    bool attend; /* --no-lease: be counted among the users of the device, and never wait */
};

/* NULL, and why, when the files cannot be had. NULL may be given to all functions below: a lease that is had
 * at once and says nothing about others. */
struct lease *lease_open(const struct lease_options *options, char *why, size_t why_size);
void lease_close(struct lease *lease);

/* Wait for it. Whoever has it keeps it without asking: the next one already holds the turn and waits for the lease. False: the user
 * interrupted. */
bool lease_take(struct lease *lease);
void lease_give(struct lease *lease);

bool lease_is_held(const struct lease *lease);
/* While it is held: no other `unseen` is at work on the device. False where that is not known. */
bool lease_is_alone(struct lease *lease);

double lease_waited(const struct lease *lease); /* seconds so far */

#endif
