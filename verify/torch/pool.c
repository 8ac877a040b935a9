#include "pool.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "answer_store.h"
#include "verify/sandbox/resource_usage.h"

enum { MOST = 64, GUARDED = 2 };

struct oracle_pool {
    pthread_mutex_t lock;
    pthread_t owner;
    struct oracle *idle[MOST];
    int count;
    struct answer_store *answers;
};

struct oracle_pool *oracle_pool_open(int processes)
{
    struct oracle_pool *pool = calloc(1, sizeof *pool);
    const double half = resource_usage_default().bytes; /* of the main memory */
    const double bytes = processes > 0 ? fmin(8e9, half / 4) / processes : fmin(5e8, half / 32);
    if (pool)
        pool->answers = answer_store_open((size_t)bytes, processes > 0 ? GUARDED : 0);
    if (!pool || !pool->answers) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pool->owner = pthread_self();
    return pool;
}

void oracle_pool_close(struct oracle_pool *pool)
{
    if (!pool)
        return;
    while (pool->count > 0)
        oracle_end(pool->idle[--pool->count]);
    answer_store_close(pool->answers);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void oracle_pool_begin(struct oracle_pool *pool)
{
    answer_store_begin_round(pool->answers);
}

/* An oracle of the pool, without its process. */
static struct oracle *begin(struct oracle_pool *pool, const struct oracle_options *options)
{
    struct oracle_options with = *options;
    with.answers = pool->answers;
    return oracle_begin(&with);
}

/* Ends the idle oracles of earlier tasks, each of which holds an interpreter with torch. Returns how many
 * others there are. */
static int keep_only(struct oracle_pool *pool, const struct oracle_options *options)
{
    pthread_mutex_lock(&pool->lock);
    const int before = pool->count;
    pool->count = 0;
    for (int i = 0; i < before; i++)
        if (oracle_serves(pool->idle[i], options) && oracle_is_of(pool->idle[i], pool->owner))
            pool->idle[pool->count++] = pool->idle[i];
        else
            oracle_end(pool->idle[i]);
    const int kept = pool->count;
    pthread_mutex_unlock(&pool->lock);
    return kept;
}

/* Adds an idle oracle. False: the pool is full. */
static bool keep(struct oracle_pool *pool, struct oracle *oracle)
{
    pthread_mutex_lock(&pool->lock);
    const bool kept = pool->count < MOST;
    if (kept)
        pool->idle[pool->count++] = oracle;
    pthread_mutex_unlock(&pool->lock);
    return kept;
}

void oracle_pool_prepare(struct oracle_pool *pool, const struct oracle_options *options, int count)
{
    for (int i = pool ? keep_only(pool, options) : count; i < count; i++) {
        struct oracle *const oracle = begin(pool, options);
        if (!oracle || !oracle_prepare(oracle) || !keep(pool, oracle)) {
            oracle_end(oracle); /* the next question reports why none starts */
            return;
        }
    }
}

struct oracle *oracle_take(struct oracle_pool *pool, const struct oracle_options *options)
{
    struct oracle *found = NULL;
    if (!pool)
        return oracle_begin(options);
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->count && !found; i++)
        if (oracle_serves(pool->idle[i], options)) {
            found = pool->idle[i];
            pool->idle[i] = pool->idle[--pool->count];
        }
    pthread_mutex_unlock(&pool->lock);
    /* It ended while idle. The next question must not report that as a lack of memory. */
    if (found && !oracle_is_of(found, pool->owner)) {
        oracle_end(found);
        found = NULL;
    }
    return found ? found : begin(pool, options);
}

void oracle_give(struct oracle_pool *pool, struct oracle *oracle)
{
    if (oracle)
        oracle_rest(oracle);
    if (!pool || !oracle || !oracle_is_of(oracle, pool->owner) || !keep(pool, oracle))
        oracle_end(oracle);
}
