#include "answer_store.h"

#include <nettle/umac.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

enum { CHAINS = 1 << 12, MOST_SHARE = 8 };

struct entry {
    struct entry *next; /* of its chain */
    TAILQ_ENTRY(entry) link;
    struct answer_key key;
    int round, readers; /* readers: threads that copy it just now */
    size_t bytes;
    char data[];
};

TAILQ_HEAD(entry_list, entry);

struct answer_store {
    pthread_mutex_t lock;
    struct entry *chain[CHAINS];
    struct entry_list list; /* the last used first */
    size_t held, most;      /* bytes */
    int round, guarded;
    unsigned char key[UMAC_KEY_SIZE];
};

struct question_hash {
    struct umac128_ctx umac;
};

struct answer_store *answer_store_open(size_t bytes, int guarded)
{
    struct answer_store *const store = calloc(1, sizeof *store);
    if (!store || getrandom(store->key, sizeof store->key, 0) != (ssize_t)sizeof store->key) {
        free(store);
        return NULL;
    }
    TAILQ_INIT(&store->list);
    pthread_mutex_init(&store->lock, NULL);
    store->most = bytes;
    store->guarded = guarded;
    return store;
}

/* --- keys --- */

struct question_hash *question_hash_open(const struct answer_store *store)
{
    static const unsigned char nonce[UMAC_MAX_NONCE_SIZE];
    struct question_hash *hash = NULL;
    if (posix_memalign((void **)&hash, 64, sizeof *hash) != 0)
        return NULL;
    umac128_set_key(&hash->umac, store->key);
    umac128_set_nonce(&hash->umac, sizeof nonce, nonce); /* one for all: hashes never leave this process */
    return hash;
}

void question_hash_add(struct question_hash *hash, const void *bytes, size_t size)
{
    umac128_update(&hash->umac, size, bytes);
}

struct answer_key question_hash_close(struct question_hash *hash)
{
    struct answer_key key;
    umac128_digest(&hash->umac, sizeof key.bytes, key.bytes);
    free(hash);
    return key;
}

bool answer_key_is(const struct answer_key *a, const struct answer_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* --- entries, with the lock held --- */

static struct entry **place_of(struct answer_store *store, const struct answer_key *key)
{
    uint32_t number;
    memcpy(&number, key, sizeof number);
    struct entry **place = &store->chain[number % CHAINS];
    while (*place && !answer_key_is(&(*place)->key, key))
        place = &(*place)->next;
    return place;
}

static void insert_newest(struct answer_store *store, struct entry *entry)
{
    entry->round = store->round;
    TAILQ_INSERT_HEAD(&store->list, entry, link);
}

static void drop(struct answer_store *store, struct entry *entry)
{
    *place_of(store, &entry->key) = entry->next;
    TAILQ_REMOVE(&store->list, entry, link);
    store->held -= entry->bytes;
    free(entry);
}

/* Returns whether there is room for `bytes` more. Drops answers for it. */
static bool make_room(struct answer_store *store, size_t bytes)
{
    struct entry *entry = TAILQ_LAST(&store->list, entry_list);
    while (entry && store->held + bytes > store->most) {
        struct entry *const newer = TAILQ_PREV(entry, entry_list, link);
        if (entry->round + store->guarded > store->round)
            return false; /* so are all newer ones */
        if (entry->readers == 0)
            drop(store, entry);
        entry = newer;
    }
    return store->held + bytes <= store->most;
}

/* --- public functions --- */

void answer_store_close(struct answer_store *store)
{
    if (!store)
        return;
    while (!TAILQ_EMPTY(&store->list))
        drop(store, TAILQ_FIRST(&store->list));
    pthread_mutex_destroy(&store->lock);
    free(store);
}

void answer_store_begin_round(struct answer_store *store)
{
    pthread_mutex_lock(&store->lock);
    store->round++;
    pthread_mutex_unlock(&store->lock);
}

static size_t total_of(const struct iovec *part, int parts)
{
    size_t total = 0;
    for (int i = 0; i < parts; i++)
        total += part[i].iov_len;
    return total;
}

size_t answer_store_take(struct answer_store *store, const struct answer_key *key, const struct iovec *part,
                         int parts)
{
    pthread_mutex_lock(&store->lock);
    struct entry *const entry = *place_of(store, key);
    if (entry) {
        TAILQ_REMOVE(&store->list, entry, link);
        insert_newest(store, entry);
        entry->readers++;
    }
    pthread_mutex_unlock(&store->lock);
    if (!entry)
        return 0;
    const size_t bytes = entry->bytes <= total_of(part, parts) ? entry->bytes : 0;
    for (size_t i = 0, at = 0; at < bytes; at += part[i++].iov_len)
        memcpy(part[i].iov_base, entry->data + at,
               part[i].iov_len < bytes - at ? part[i].iov_len : bytes - at);
    pthread_mutex_lock(&store->lock);
    entry->readers--;
    pthread_mutex_unlock(&store->lock);
    return bytes;
}

void answer_store_keep(struct answer_store *store, const struct answer_key *key, const struct iovec *part,
                       int parts)
{
    const size_t bytes = total_of(part, parts);
    pthread_mutex_lock(&store->lock);
    const bool fits = bytes <= store->most / MOST_SHARE && !*place_of(store, key) && make_room(store, bytes);
    pthread_mutex_unlock(&store->lock);
    struct entry *const entry = fits ? malloc(sizeof *entry + bytes) : NULL;
    if (!entry)
        return;
    *entry = (struct entry){.key = *key, .bytes = bytes};
    for (size_t i = 0, at = 0; at < bytes; at += part[i++].iov_len)
        memcpy(entry->data + at, part[i].iov_base, part[i].iov_len);
    pthread_mutex_lock(&store->lock);
    struct entry **const place = place_of(store, key);
    if (!*place && make_room(store, bytes)) { /* other threads may have kept some meanwhile */
        insert_newest(store, entry);
        entry->next = NULL;
        *place = entry;
        store->held += bytes;
    } else {
        free(entry);
    }
    pthread_mutex_unlock(&store->lock);
}
