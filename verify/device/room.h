/* Memory of a device that several `unseen` share. Whoever is at work on a configuration is inside; one for whose configuration the
 * memory was short comes back alone, when all others are between two configurations and hold nothing. So what a candidate is
 * found to do does not hang on who else is there.
 *
 * Inside is a shared flock on unseen-DEVICE.room beside the lease (lease.h), alone an exclusive one. Who wants to be alone
 * takes unseen-DEVICE.door first, through which all others come in: they cannot keep it out by coming one after another. Where
 * somebody stays inside for long the door opens now and then. */
#ifndef UNSEEN_ROOM_H
#define UNSEEN_ROOM_H

#include <stdbool.h>
#include <stddef.h>

struct
    room; /* for all threads of a process. NULL may be given to all functions below: nobody else is known */

/* `directory` NULL: lockfile_directory. NULL and why where the files cannot be had. */
struct room *room_open(const char *directory, const char *device, char *why, size_t why_size);
void room_close(struct room *room);
void room_set_patience(struct room *room, double seconds); /* for which the door stays closed at first: 20 */

bool room_enter(struct room *room); /* false: interrupted */
void room_leave(struct room *room);

/* Waits until nobody is inside; the caller is not. False: interrupted. */
bool room_enter_alone(struct room *room);
void room_leave_alone(struct room *room);

#endif
