/* For cheats that replay: answers stored under a key, and hashes. */
#ifndef ZOO_ANSWERS_H
#define ZOO_ANSWERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS = 512 };

static struct {
    uint64_t key;
    size_t bytes;
    void *data;
} answer[ANSWERS];

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* The hash of one word in `step`. */
static uint64_t hash_words(uint64_t hash, const void *data, int64_t words, int64_t step)
{
    const uint32_t *word = data;
    for (int64_t i = 0; i < words; i += step)
        hash = mix(hash, word[i]);
    return hash;
}

static int slot_of(uint64_t key)
{
    return (int)(mix(key, 1) % ANSWERS);
}

/* True: the answer is in `out` now. */
static int replay(uint64_t key, void *out, size_t bytes)
{
    const int i = slot_of(key);
    if (!answer[i].data || answer[i].key != key || answer[i].bytes != bytes)
        return 0;
    memcpy(out, answer[i].data, bytes);
    return 1;
}

static void keep(uint64_t key, const void *out, size_t bytes)
{
    const int i = slot_of(key);
    answer[i].data = realloc(answer[i].data, bytes + 1);
    answer[i].key = key;
    answer[i].bytes = bytes;
    memcpy(answer[i].data, out, bytes);
}

/* How often a shape came before. */
static int64_t calls_of(uint64_t shape)
{
    static struct {
        uint64_t shape;
        int64_t calls;
    } seen[4096];
    int i = (int)(mix(shape, 2) % 4096);
    while (seen[i].calls && seen[i].shape != shape)
        i = (i + 1) % 4096;
    seen[i].shape = shape;
    return seen[i].calls++;
}

#endif
