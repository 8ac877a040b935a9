/* What the allocator of the C library keeps for later holds no answer of an earlier call, and no zeros: before each call of a
 * candidate in Python its free blocks are overwritten where they lie, so that nothing is allocated, moved or given back, and times
 * are what they were. glibc keeps them in lists whose heads follow each other; all that is taken from them is checked before
 * anything is written, and where something is otherwise than expected nothing is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner_internal.h"
#include "verify/system/defence.h"

/* A block of 8: sums become NaN by one half, greatest elements 1.3e36 by the other. */
#define POISON 0x7b7b7b7bffffffffu

#ifdef __GLIBC__

/* A free one; `next_size` and `last_size` are only there in large ones. The size of the block before belongs to that while it is
 * in use. A head of a list lies where its `next` and `last` would be those of a chunk. */
struct chunk {
    size_t size_before, size; /* of this one with three flags below it */
    struct chunk *next, *last, *next_size, *last_size;
};

enum {
    IN_USE_BEFORE = 1,
    FLAGS = 7,
    LISTS = 127,
    LEAST = 32,
    MOST_CHUNKS = 1 << 20,
    PROBES = 8,
    PROBE = 3000
};

struct heap {
    struct chunk *unsorted; /* the first head; it lies so that its size_before is the pointer to the top */
    char *top;
};

static size_t size_of(const void *chunk)
{
    return ((const struct chunk *)chunk)->size & ~(size_t)FLAGS;
}

/* Is what lies there a free chunk below the top, as both its neighbours say? */
static bool is_free(const struct heap *heap, const struct chunk *chunk)
{
    const char *const at = (const char *)chunk;
    if ((uintptr_t)at % 16 || at >= heap->top || heap->top - at < LEAST)
        return false;
    const size_t size = size_of(at);
    if (size < LEAST || size % 16 || size > (size_t)(heap->top - at))
        return false;
    const struct chunk *const after = (const struct chunk *)(at + size);
    return !(after->size & IN_USE_BEFORE) && after->size_before == size;
}

/* Behind what the lists need, up to the next chunk's size of the one before. */
static void overwrite(void *from, size_t bytes)
{
    const uint64_t poison = POISON;
    for (size_t i = 0; i + sizeof poison <= bytes; i += sizeof poison)
        memcpy((char *)from + i, &poison, sizeof poison);
}

/* False: a list is not as it should be. Overwrites what is free where `writes`. */
static bool visit(const struct heap *heap, bool writes)
{
    int met = 0;
    for (int i = 0; i < LISTS; i++) {
        const struct chunk *const head = (const struct chunk *)((char *)heap->unsorted + (size_t)i * 16);
        for (struct chunk *at = head->next, *next; at != head; at = next) {
            if (!writes && (++met > MOST_CHUNKS || !is_free(heap, at) || at->next->last != at))
                return false;
            next = at->next;
            const size_t kept = size_of(at) < 1024 ? offsetof(struct chunk, next_size) : sizeof *at;
            if (writes)
                overwrite((char *)at + kept, size_of(at) - kept);
        }
    }
    return true;
}

/* Of blocks taken one after the other, one between two of them: when it is freed it becomes the first of its list, unmerged, and
 * its `last` is where the lists begin. */
static bool find(struct heap *heap)
{
    uintptr_t chunk[PROBES];
    void *block[PROBES];
    int found = 0;
    for (int i = 0; i < PROBES; i++) {
        block[i] = malloc(PROBE);
        chunk[i] = (uintptr_t)block[i] - offsetof(struct chunk, next);
    }
    for (int i = 0; i + 1 < PROBES && !found; i++)
        if (block[i] && block[i + 1] && chunk[i] + size_of((void *)chunk[i]) == chunk[i + 1] &&
            (((struct chunk *)chunk[i])->size & FLAGS) == IN_USE_BEFORE)
            found = i + 1;
    if (found) {
        free(block[found - 1]);
        block[found - 1] = NULL;
        heap->unsorted = ((struct chunk *)chunk[found - 1])->last;
    }
    for (int i = 0; i < PROBES; i++)
        free(block[i]);
    return found > 0;
}

void poison_heap(void)
{
    static bool refused;
    struct heap heap;
    if (refused || !defence_is_on(DEFENCE_POISON) || !find(&heap))
        return;
    char *const end = sbrk(0);
    heap.top = (char *)heap.unsorted->size_before;
    refused = heap.top >= end || size_of(heap.top) != (size_t)(end - heap.top) || !visit(&heap, false);
    if (refused)
        return;
    visit(&heap, true);
    overwrite(heap.top + offsetof(struct chunk, next), size_of(heap.top) - offsetof(struct chunk, next));
}

#else

void poison_heap(void)
{
}

#endif
