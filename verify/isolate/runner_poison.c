/* What the allocator of the C library keeps for later holds no answer of an earlier call, and no zeros: before each call of a
 * candidate in Python its free blocks are overwritten where they lie, so that nothing is allocated, moved or given back, and times
 * are what they were. glibc keeps them in lists whose heads follow each other; all that is taken from them is checked before
 * anything is written, and where something is otherwise than expected nothing is. Other threads may allocate meanwhile: the lock of
 * the heap is held, and where one of them has it nothing is done. */
#include <gnu/libc-version.h>
#include <link.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner_internal.h"
#include "verify/system/defence.h"

/* A block of 8: sums become NaN by one half, greatest elements 1.3e36 by the other. */
#define POISON 0x7b7b7b7bffffffffu

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

/* As it has been from glibc 2.27 on. Heads of lists overlap it, from `top` on: of the first that is its size_before. */
struct arena {
    _Atomic int lock; /* 0: free, 1: held, 2: held, and somebody waits */
    int flags, has_fast, unused;
    void *fast[10];
    char *top;
};
enum { FIRST_MINOR = 27, LAST_MINOR = 41 };

struct heap {
    struct arena *arena;
    struct chunk *unsorted; /* the first head */
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

/* Does the C library keep variables there? Its object is the one with gnu_get_libc_version. */
static int keeps_there(struct dl_phdr_info *object, size_t size, void *address)
{
    const uintptr_t asked[] = {(uintptr_t)gnu_get_libc_version, (uintptr_t)address};
    bool lies[2] = {false, false};
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        for (int j = 0; j < 2; j++) {
            const ElfW(Phdr) *const part = &object->dlpi_phdr[i];
            const bool kind = part->p_type == PT_LOAD && (j == 0 || part->p_flags & PF_W);
            lies[j] = lies[j] || (kind && asked[j] - (object->dlpi_addr + part->p_vaddr) < part->p_memsz);
        }
    return lies[0] && lies[1];
}

/* Of blocks taken one after the other, one between two of them: when it is freed it becomes the first of its list, unmerged, and
 * its `last` is where the lists begin, among the variables of the C library. It is read once for all calls: another thread may
 * have taken the block by then, and what it wrote there is no such place. */
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
        heap->arena = (struct arena *)((char *)heap->unsorted - offsetof(struct arena, top));
    }
    for (int i = 0; i < PROBES; i++)
        free(block[i]);
    if (!found || !dl_iterate_phdr(keeps_there, heap->arena))
        heap->arena = NULL;
    return heap->arena != NULL;
}

static bool is_known(void)
{
    int minor = 0;
    return sizeof(void *) == 8 && sscanf(gnu_get_libc_version(), "2.%d", &minor) == 1 &&
           minor >= FIRST_MINOR && minor <= LAST_MINOR;
}

/* False: the heap is not as it should be. With its lock, so without allocating. */
static bool overwrite_free(struct heap *heap)
{
    char *const end = sbrk(0);
    heap->top = heap->arena->top;
    if (heap->top >= end || size_of(heap->top) != (size_t)(end - heap->top) || !visit(heap, false))
        return false;
    visit(heap, true);
    overwrite(heap->top + offsetof(struct chunk, next), size_of(heap->top) - offsetof(struct chunk, next));
    return true;
}

void poison_heap(void)
{
    static bool asked, refused;
    static struct heap heap;
    int is_free = 0;
    if (!asked)
        refused = !is_known();
    asked = true;
    if (refused || !defence_is_on(DEFENCE_POISON) || (!heap.arena && !find(&heap)) ||
        !atomic_compare_exchange_strong(&heap.arena->lock, &is_free, 1))
        return;
    refused = !overwrite_free(&heap);
    if (atomic_exchange(&heap.arena->lock, 0) > 1)
        syscall(SYS_futex, &heap.arena->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
