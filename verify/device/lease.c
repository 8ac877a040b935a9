#include "lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "lockfile.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

enum { POLL_NS = 2000000 };
static const double silence = 5; /* seconds of waiting before the user is told */
/* seconds; a check holds the exclusive lock on `.users` only for a moment */
static const double users_limit = 2;

enum part { TURN, LEASE, USERS, PARTS };
static const char *const part_name[PARTS] = {"turn", "lease", "users"};

struct lease {
    char path[PARTS][300];
    int fd[PARTS];
    bool attend, told, present, held;
    void (*waiting)(const char *path);
    double waited;
};

/* --- locks --- */

static void pause_a_moment(void)
{
    const struct timespec moment = {0, POLL_NS};
    nanosleep(&moment, NULL);
}

static void tell(struct lease *lease)
{
    if (lease->waiting && !lease->told)
        lease->waiting(lease->path[LEASE]);
    lease->told = true;
}

/* Polls instead of blocking, since a signal may be delivered to another thread. False: interrupted, or the
 * budget ran out. */
static bool lock(struct lease *lease, enum part part, double start)
{
    for (;;) {
        if (flock(lease->fd[part], LOCK_EX | LOCK_NB) == 0) {
            if (lockfile_is_current(lease->path[part], lease->fd[part]))
                return true;
            const int fd = lockfile_open(lease->path[part]);
            if (fd < 0)
                /* no new file can be opened: the old one still excludes processes that have it open */
                return true;
            close(lease->fd[part]);
            lease->fd[part] = fd;
            continue;
        }
        if (is_interrupted() || budget_is_over())
            return false;
        if (clock_seconds() - start > silence)
            tell(lease);
        pause_a_moment();
    }
}

static bool share_users(struct lease *lease)
{
    const double start = clock_seconds();
    while (flock(lease->fd[USERS], LOCK_SH | LOCK_NB) != 0) {
        if (is_interrupted() || clock_seconds() - start > users_limit)
            return false;
        pause_a_moment();
    }
    return true;
}

/* --- the lease --- */

struct lease *lease_open(const struct lease_options *options, char *why, size_t why_size)
{
    const char *const directory = options->directory ? options->directory : lockfile_directory();
    struct lease *lease = calloc(1, sizeof *lease);
    if (!lease) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    *lease = (struct lease){.fd = {-1, -1, -1}, .waiting = options->waiting, .attend = options->attend};
    for (int i = 0; i < PARTS; i++) {
        snprintf(lease->path[i], sizeof lease->path[i], "%.200s/unseen-%.60s.%s", directory, options->device,
                 part_name[i]);
        lease->fd[i] = lockfile_open(lease->path[i]);
        if (lease->fd[i] < 0) {
            snprintf(why, why_size, "%s: %s", lease->path[i], strerror(errno));
            lease_close(lease);
            return NULL;
        }
    }
    lease->present = share_users(lease);
    return lease;
}

void lease_close(struct lease *lease)
{
    for (int i = 0; lease && i < PARTS; i++)
        if (lease->fd[i] >= 0)
            close(lease->fd[i]);
    free(lease);
}

bool lease_take(struct lease *lease)
{
    const double start = clock_seconds();
    if (!lease || lease->attend || lease->held)
        return !is_interrupted();
    if (lock(lease, TURN, start)) {
        lease->held = lock(lease, LEASE, start);
        flock(lease->fd[TURN], LOCK_UN);
    }
    lease->waited += clock_seconds() - start;
    return lease->held;
}

void lease_give(struct lease *lease)
{
    if (!lease || !lease->held)
        return;
    lease->held = false;
    flock(lease->fd[LEASE], LOCK_UN);
}

bool lease_is_held(const struct lease *lease)
{
    return lease && lease->held;
}

/* Tries to make the shared lock exclusive, which fails if another process has a shared lock, then makes it
 * shared again. Only the holder of the lease tries, so two processes never try at the same time and mislead
 * each other. */
bool lease_is_alone(struct lease *lease)
{
    if (!lease || !lease->held || !lease->present)
        return false;
    const bool alone = flock(lease->fd[USERS], LOCK_EX | LOCK_NB) == 0;
    lease->present = share_users(lease);
    return alone && lease->present;
}

double lease_waited(const struct lease *lease)
{
    return lease ? lease->waited : 0;
}
