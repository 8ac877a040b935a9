/* Overwrites the free blocks of the C library's allocator before each call of a candidate in Python, so that
 * they contain neither results of an earlier call nor zeros. Blocks are overwritten in place: nothing is
 * allocated, moved or freed, and timings do not change. glibc keeps free blocks in lists whose heads are
 * adjacent. All values read from them are checked before anything is written; after any surprise nothing is
 * written. Other threads may allocate meanwhile, so the heap's lock is held; if another thread has it,
 * nothing is done. */
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
#include "verify/util/defence.h"

/* The pattern of 8 bytes: one half makes sums NaN, the other makes maxima 1.3e36. */
#define POISON 0x7b7b7b7bffffffffu

/* Layout of a free chunk; only large ones have `next_size` and `last_size`. While the preceding chunk is in
 * use, `size_before` belongs to it. A list head lies where its `next` and `last` match those of a chunk. */
struct chunk {
    size_t size_before, size; /* size of this chunk, with three flags in the low bits */
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

/* Layout since glibc 2.27. List heads overlap it from `top` on; `top` is the size_before of the first
 * head. */
struct arena {
    _Atomic int lock; /* 0: free, 1: held, 2: held with waiters */
    int flags, has_fast, unused;
    void *fast[10];
    char *top;
};
enum { FIRST_MINOR = 27, LAST_MINOR = 41 };

struct heap {
    struct arena *arena;
    struct chunk *unsorted; /* the first list head */
    char *top;
};

static size_t size_of(const void *chunk)
{
    return ((const struct chunk *)chunk)->size & ~(size_t)FLAGS;
}

/* Is it a free chunk below the top, according to both of its neighbours? */
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

/* Overwrites the part of a chunk after the list pointers, up to the next chunk's size_before. */
static void overwrite(void *from, size_t bytes)
{
    const uint64_t poison = POISON;
    for (size_t i = 0; i + sizeof poison <= bytes; i += sizeof poison)
        memcpy((char *)from + i, &poison, sizeof poison);
}

/* Walks all lists; returns false if one is inconsistent. With `writes` it overwrites the free chunks. */
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

/* Is the address in the C library's variables? Its object contains gnu_get_libc_version. */
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

/* Finds the list heads by freeing a block between two allocated neighbours. It becomes the first of its list,
 * unmerged, and its `last` points to the heads among the C library's variables. It is read once for all
 * calls. If another thread has taken the block meanwhile, the value read is not in the C library's
 * variables. */
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

/* Returns false if the heap is inconsistent. It holds the lock, so it must not allocate. */
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
