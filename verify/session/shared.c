#include "shared.h"

#include <math.h>

#include "verify/torch/made.h"

/* The share of the device's memory for enclosures, and its limit on the host. */
static const double share = 1.0 / 8, host_bytes = 4e9;

void shared_judge_open(struct shared_judge *shared, int processes, int family)
{
    *shared = (struct shared_judge){.processes = processes > 0 ? processes : 1, .family = family};
    pthread_mutex_init(&shared->lock, NULL);
}

void shared_judge_close(struct shared_judge *shared)
{
    enclosure_cache_close(shared->enclosures);
    oracle_pool_close(shared->oracles);
    made_end();
    pthread_mutex_destroy(&shared->lock);
}

void shared_judge_begin(struct shared_judge *shared)
{
    if (!shared)
        return;
    pthread_mutex_lock(&shared->lock);
    enclosure_cache_begin_round(shared->enclosures);
    pthread_mutex_unlock(&shared->lock);
}

struct enclosure_cache *shared_judge_enclosures(struct shared_judge *shared, const struct device *device)
{
    struct enclosure_cache *found = NULL;
    if (!shared)
        return NULL;
    pthread_mutex_lock(&shared->lock);
    if (!shared->enclosures) {
        const double bytes = share * (double)device->memory_bytes;
        shared->enclosures = enclosure_cache_open(
            memory_of(device->backend),
            (device->backend == BACKEND_HOST ? fmin(bytes, host_bytes) : bytes) / shared->processes);
        shared->backend = device->backend;
    }
    if (shared->backend == device->backend)
        found = shared->enclosures;
    pthread_mutex_unlock(&shared->lock);
    return found;
}

struct oracle_pool *shared_judge_oracles(struct shared_judge *shared)
{
    pthread_mutex_lock(&shared->lock);
    if (!shared->oracles)
        shared->oracles = oracle_pool_open(shared->processes);
    struct oracle_pool *const found = shared->oracles;
    pthread_mutex_unlock(&shared->lock);
    return found;
}
