#include "enclosure_cache.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* One output may take this share of the cache, so that a few large ones do not replace all others. */
enum { LARGEST = 4 };

struct cache_entry {
    struct cached_enclosures of; /* the first member: entries are found by it */
    char *key;
    int users, round; /* round: the last one that used it */
    TAILQ_ENTRY(cache_entry) link;
};

TAILQ_HEAD(entry_list, cache_entry);

struct enclosure_cache {
    const struct memory *memory;
    double bytes, used;
    pthread_mutex_t lock;
    void *tree;             /* of entries by key (tsearch) */
    struct entry_list list; /* the last used first */
    int64_t hits;
    int round;
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct cache_entry *)a)->key, ((const struct cache_entry *)b)->key);
}

struct enclosure_cache *enclosure_cache_open(const struct memory *memory, double bytes)
{
    struct enclosure_cache *const cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->memory = memory;
    cache->bytes = bytes;
    TAILQ_INIT(&cache->list);
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static void insert_newest(struct enclosure_cache *cache, struct cache_entry *entry)
{
    entry->round = cache->round;
    TAILQ_INSERT_HEAD(&cache->list, entry, link);
}

static void free_entry(struct cache_entry *entry)
{
    free(entry->key);
    free(entry);
}

static void drop(struct enclosure_cache *cache, struct cache_entry *entry)
{
    tdelete(entry, &cache->tree, compare_keys);
    TAILQ_REMOVE(&cache->list, entry, link);
    if (entry->of.memory)
        cache->memory->release(entry->of.memory);
    cache->used -= (double)entry->of.bytes;
    free_entry(entry);
}

/* Drops the least recently used entries until `bytes` more fit. Entries of the last two rounds stay. */
static bool make_room(struct enclosure_cache *cache, size_t bytes)
{
    struct cache_entry *newer;
    for (struct cache_entry *entry = TAILQ_LAST(&cache->list, entry_list);
         entry && cache->used + (double)bytes > cache->bytes; entry = newer) {
        newer = TAILQ_PREV(entry, entry_list, link);
        if (entry->round + 1 >= cache->round)
            break; /* so are all newer ones */
        if (entry->users == 0)
            drop(cache, entry);
    }
    return cache->used + (double)bytes <= cache->bytes;
}

static struct cache_entry *new_entry(struct enclosure_cache *cache, const char *key, size_t bytes)
{
    void *memory = NULL;
    if ((double)bytes * LARGEST > cache->bytes || !make_room(cache, bytes))
        return NULL;
    struct cache_entry *const entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->key = strdup(key);
    const int error = !entry->key ? -1 : bytes == 0 ? 0 : cache->memory->take(&memory, bytes);
    if (error && entry->key)
        (void)cache->memory->is_shortage(error); /* clears the device's error */
    if (error || !tsearch(entry, &cache->tree, compare_keys)) {
        if (memory)
            cache->memory->release(memory);
        free_entry(entry);
        return NULL;
    }
    entry->of = (struct cached_enclosures){.memory = memory, .bytes = bytes};
    cache->used += (double)bytes;
    insert_newest(cache, entry);
    return entry;
}

struct cached_enclosures *enclosure_cache_take(struct enclosure_cache *cache, const char *key, size_t bytes)
{
    union {
        const char *given;
        char *key;
    } wanted = {.given = key};
    const struct cache_entry like = {.key = wanted.key};
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *const *const found = tfind(&like, &cache->tree, compare_keys);
    struct cache_entry *entry = found ? *found : NULL;
    if (!entry) {
        entry = new_entry(cache, key, bytes);
    } else if (entry->of.filled && entry->of.bytes == bytes) {
        TAILQ_REMOVE(&cache->list, entry, link);
        insert_newest(cache, entry);
        cache->hits++;
    } else {
        entry = NULL;
    }
    if (entry)
        entry->users++;
    pthread_mutex_unlock(&cache->lock);
    return entry ? &entry->of : NULL;
}

void enclosure_cache_give(struct enclosure_cache *cache, struct cached_enclosures *enclosures, bool filled,
                          bool audited)
{
    struct cache_entry *const entry = (struct cache_entry *)enclosures;
    if (!entry)
        return;
    pthread_mutex_lock(&cache->lock);
    entry->users--;
    entry->of.filled = entry->of.filled || filled;
    entry->of.audited = entry->of.audited || audited;
    if (!entry->of.filled)
        drop(cache, entry);
    pthread_mutex_unlock(&cache->lock);
}

void enclosure_cache_begin_round(struct enclosure_cache *cache)
{
    if (!cache)
        return;
    pthread_mutex_lock(&cache->lock);
    cache->round++;
    pthread_mutex_unlock(&cache->lock);
}

bool enclosure_cache_clear(struct enclosure_cache *cache)
{
    bool any = false;
    if (!cache)
        return false;
    pthread_mutex_lock(&cache->lock);
    for (struct cache_entry *entry = TAILQ_FIRST(&cache->list), *older; entry; entry = older) {
        older = TAILQ_NEXT(entry, link);
        if (entry->users > 0)
            continue;
        drop(cache, entry);
        any = true;
    }
    pthread_mutex_unlock(&cache->lock);
    return any;
}

int64_t enclosure_cache_hits(const struct enclosure_cache *cache)
{
    return cache->hits;
}

void enclosure_cache_close(struct enclosure_cache *cache)
{
    if (!cache)
        return;
    enclosure_cache_clear(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
