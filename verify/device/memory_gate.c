#include "memory_gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lockfile.h"
#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

/* A flock belongs to the open file, which all threads of a process share; among threads a counter replaces
 * the lock. */
struct memory_gate {
    int room, door;
    double patience; /* seconds */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside, waiting;
    bool alone;
};

struct memory_gate *memory_gate_open(const char *directory, const char *device, char *why, size_t why_size)
{
    char path[400];
    struct memory_gate *const room = calloc(1, sizeof *room);
    if (!room) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    directory = directory ? directory : lockfile_directory();
    snprintf(path, sizeof path, "%.200s/unseen-%.60s.door", directory, device);
    room->door = lockfile_open(path);
    room->patience = 20;
    if (room->door >= 0)
        snprintf(path, sizeof path, "%.200s/unseen-%.60s.room", directory, device);
    room->room = room->door >= 0 ? lockfile_open(path) : -1;
    pthread_mutex_init(&room->mutex, NULL);
    pthread_cond_init(&room->changed, NULL);
    if (room->room >= 0)
        return room;
    snprintf(why, why_size, "%s: %s", path, strerror(errno));
    memory_gate_close(room);
    return NULL;
}

void memory_gate_set_patience(struct memory_gate *room, double seconds)
{
    room->patience = seconds;
}

void memory_gate_close(struct memory_gate *room)
{
    if (!room)
        return;
    if (room->door >= 0)
        close(room->door);
    if (room->room >= 0)
        close(room->room);
    pthread_mutex_destroy(&room->mutex);
    pthread_cond_destroy(&room->changed);
    free(room);
}

static bool come_in(const struct memory_gate *room)
{
    if (!lockfile_lock(room->door, LOCK_SH))
        return false;
    const bool in = lockfile_lock(room->room, LOCK_SH);
    flock(room->door, LOCK_UN);
    return in;
}

/* A process may stay inside for minutes, for example while it computes a large network's expected values. To
 * let others proceed, the door opens for as long as it was closed. It then stays closed twice as long, so
 * that eventually nobody is inside. */
static bool come_in_alone(const struct memory_gate *room)
{
    for (double closed = room->patience; !is_interrupted() && !budget_is_over(); closed *= 2) {
        if (!lockfile_lock(room->door, LOCK_EX))
            return false;
        const bool in = lockfile_lock_within(room->room, LOCK_EX, closed);
        flock(room->door, LOCK_UN);
        if (in || lockfile_lock_within(room->room, LOCK_EX, closed))
            return true;
    }
    return false;
}

bool memory_gate_enter(struct memory_gate *room)
{
    bool in = true;
    if (!room)
        return true;
    pthread_mutex_lock(&room->mutex);
    while (room->waiting > 0 || room->alone)
        pthread_cond_wait(&room->changed, &room->mutex);
    if (room->inside == 0)
        in = come_in(room);
    room->inside += in;
    pthread_mutex_unlock(&room->mutex);
    return in;
}

void memory_gate_leave(struct memory_gate *room)
{
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    if (--room->inside == 0)
        flock(room->room, LOCK_UN);
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

bool memory_gate_enter_alone(struct memory_gate *room)
{
    if (!room)
        return true;
    pthread_mutex_lock(&room->mutex);
    room->waiting++;
    while (room->inside > 0 || room->alone)
        pthread_cond_wait(&room->changed, &room->mutex);
    room->waiting--;
    room->alone = come_in_alone(room);
    const bool in = room->alone;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
    return in;
}

void memory_gate_leave_alone(struct memory_gate *room)
{
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    room->alone = false;
    flock(room->room, LOCK_UN);
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

bool memory_gate_enter_as(struct memory_gate *room, bool alone)
{
    return alone ? memory_gate_enter_alone(room) : memory_gate_enter(room);
}

void memory_gate_leave_as(struct memory_gate *room, bool alone)
{
    (alone ? memory_gate_leave_alone : memory_gate_leave)(room);
}
