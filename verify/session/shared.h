/* Values that several verdicts of one process share, one after the other or in threads. A single verdict
 * has none: its pointer is NULL. */
#ifndef UNSEEN_SHARED_H
#define UNSEEN_SHARED_H

#include <pthread.h>

#include "enclosure_cache.h"
#include "verify/device/device.h"
#include "verify/torch/pool.h"

struct shared_judge {
    pthread_mutex_t lock;
    /* by the backend that judges; NULL: none was needed yet, or out of memory */
    struct enclosure_cache *enclosures[BACKENDS];
    struct oracle_pool *oracles; /* of imported tasks; NULL: none was needed yet, or out of memory */
    int processes;               /* how many share the machine's memory */
    int family;                  /* the process that started all of them */
};

/* `processes`: the number of processes that have such values, and share the memory of the machine. `family`:
 * the process that started all of them; they take times in turns, while the others run nothing on the
 * device. */
void shared_judge_open(struct shared_judge *shared, int processes, int family);
void shared_judge_close(struct shared_judge *shared);

/* Another candidate begins. NULL is fine. */
void shared_judge_begin(struct shared_judge *shared);

/* The cache for what `backend` judges of this device's calls; it is made at the first call. NULL: there is
 * none, as for `shared` NULL, or the device does not use the backend. */
struct enclosure_cache *shared_judge_enclosures(struct shared_judge *shared, const struct device *device,
                                                enum backend backend);

/* The oracles of imported tasks and their answers, made at the first call. NULL: out of memory. Call it on a
 * thread that outlives all tasks, since the oracles' processes end with it. */
struct oracle_pool *shared_judge_oracles(struct shared_judge *shared);

#endif
