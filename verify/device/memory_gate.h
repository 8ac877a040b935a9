/* A gate for device memory that several `unseen` processes share. Each process holds a shared lock while it
 * runs a configuration. A configuration that ran out of memory is retried under the exclusive lock, when all
 * other processes are between two configurations and hold no memory. So a candidate's outcome does not depend
 * on other processes.
 *
 * The lock is a flock on unseen-DEVICE.room beside the lease (lease.h): shared inside, exclusive alone. Every
 * process enters through unseen-DEVICE.door. A process that wants to be alone locks the door first, so others
 * cannot keep it out by entering one after another. If somebody stays inside for long, the door opens now and
 * then. */
#ifndef UNSEEN_MEMORY_GATE_H
#define UNSEEN_MEMORY_GATE_H

#include <stdbool.h>
#include <stddef.h>

struct
    /* shared by all threads of a process. All functions below accept NULL: no other process is known */
    memory_gate;

/* `directory` NULL: lockfile_directory. Returns NULL, and why, if the files cannot be opened. */
struct memory_gate *memory_gate_open(const char *directory, const char *device, char *why, size_t why_size);
void memory_gate_close(struct memory_gate *room);
/* how long the door stays closed at first: 20 s */
void memory_gate_set_patience(struct memory_gate *room, double seconds);

bool memory_gate_enter(struct memory_gate *room); /* false: interrupted */
void memory_gate_leave(struct memory_gate *room);

/* Waits until nobody is inside; the caller must not be inside. False: interrupted. */
bool memory_gate_enter_alone(struct memory_gate *room);
void memory_gate_leave_alone(struct memory_gate *room);

/* One of the two pairs above. */
bool memory_gate_enter_as(struct memory_gate *room, bool alone);
void memory_gate_leave_as(struct memory_gate *room, bool alone);

#endif
