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
    for (enum backend backend = 0; backend < BACKENDS; backend++)
        enclosure_cache_close(shared->enclosures[backend]);
    oracle_pool_close(shared->oracles);
    made_end();
    pthread_mutex_destroy(&shared->lock);
}

void shared_judge_begin(struct shared_judge *shared)
{
    if (!shared)
        return;
    pthread_mutex_lock(&shared->lock);
    for (enum backend backend = 0; backend < BACKENDS; backend++)
        enclosure_cache_begin_round(shared->enclosures[backend]);
    pthread_mutex_unlock(&shared->lock);
}

struct enclosure_cache *shared_judge_enclosures(struct shared_judge *shared, const struct device *device,
                                                enum backend backend)
{
    if (!shared || (backend != BACKEND_HOST && backend != device->backend))
        return NULL;
    const double bytes = backend == device->backend ? share * (double)device->memory_bytes : host_bytes;
    pthread_mutex_lock(&shared->lock);
    if (!shared->enclosures[backend])
        shared->enclosures[backend] = enclosure_cache_open(
            memory_of(backend),
            (backend == BACKEND_HOST ? fmin(bytes, host_bytes) : bytes) / shared->processes);
    struct enclosure_cache *const found = shared->enclosures[backend];
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
