/* A gate for device memory that several `unseen` processes share. Each process holds a shared lock while it
 * runs a configuration. A configuration that ran out of memory is retried under the exclusive lock, when all
 * other processes are between two configurations and hold no memory. So a candidate's outcome does not depend
 * on other processes.
 *
 * The lock is a flock on unseen-DEVICE.room beside the lease (lease.h): shared inside, exclusive alone. Every
 * process enters through unseen-DEVICE.door. A process that wants to be alone locks the door first, so others
 * cannot keep it out by entering one after another. If somebody stays inside for long, the door opens now and
 * then. */
#ifndef UNSEEN_ROOM_H
#define UNSEEN_ROOM_H

#include <stdbool.h>
#include <stddef.h>

struct
    room; /* shared by all threads of a process. All functions below accept NULL: no other process is known */

/* `directory` NULL: lockfile_directory. Returns NULL, and why, if the files cannot be opened. */
struct room *room_open(const char *directory, const char *device, char *why, size_t why_size);
void room_close(struct room *room);
void room_set_patience(struct room *room, double seconds); /* how long the door stays closed at first: 20 s */

bool room_enter(struct room *room); /* false: interrupted */
void room_leave(struct room *room);

/* Waits until nobody is inside; the caller must not be inside. False: interrupted. */
bool room_enter_alone(struct room *room);
void room_leave_alone(struct room *room);

#endif
