/* Tensors that lie on a GPU, readable on the host page by page: the witness of one element touches a
 * row and a column, not the tensor. */
#include "judge.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Small: tokens of a sequence are scattered over a large cache, and a copy of 4 KiB costs little more
 * than its latency. Threads that miss different pages fetch them side by side. */
enum { PAGE = 4096, LOCKS = 64, AHEAD = 16 };

struct shadow {
    const void *device;
    char *host;       /* address space for the whole tensor; pages appear when touched */
    unsigned char *have;
    int64_t bytes;
};

struct fetcher {
    struct shadow shadow[PROBLEM_MAX_TENSORS];
    int tensors;
    reference_copy copy;
    omp_lock_t lock[LOCKS]; /* of a page, by its number */
};

static int shadow_open(struct shadow *s, const void *device, int64_t bytes)
{
    s->device = device;
    s->bytes = bytes;
    s->have = calloc((size_t)(bytes / PAGE + 1), 1);
    s->host = mmap(NULL, (size_t)bytes + 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->host == MAP_FAILED)
        s->host = NULL;
    return s->have && s->host ? 0 : -1;
}

struct fetcher *fetcher_open(struct judge_request *request, const int64_t *bytes, int tensors,
                             reference_copy copy)
{
    struct fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (!fetcher)
        return NULL;
    for (int i = 0; i < LOCKS; i++)
        omp_init_lock(&fetcher->lock[i]);
    fetcher->tensors = tensors;
    fetcher->copy = copy;
    for (int t = 0; t < tensors; t++)
        if (shadow_open(&fetcher->shadow[t], request->context.tensor[t], bytes[t]) != 0) {
            fetcher_close(fetcher);
            return NULL;
        }
    request->context.fetcher = fetcher;
    return fetcher;
}

void fetcher_close(struct fetcher *fetcher)
{
    if (!fetcher)
        return;
    for (int t = 0; t < fetcher->tensors; t++) {
        struct shadow *s = &fetcher->shadow[t];
        if (s->host)
            munmap(s->host, (size_t)s->bytes + 1);
        free(s->have);
    }
    for (int i = 0; i < LOCKS; i++)
        omp_destroy_lock(&fetcher->lock[i]);
    free(fetcher);
}

/* A failed copy leaves zeros, which the audit of the enclosure then reports. */
static void shadow_fetch(const struct fetcher *fetcher, struct shadow *s, int64_t page, int64_t pages)
{
    const int64_t offset = page * PAGE, left = s->bytes - offset;
    const int64_t bytes = left < pages * PAGE ? left : pages * PAGE;
    if (fetcher->copy(s->host + offset, s->device, offset, bytes) != 0)
        memset(s->host + offset, 0, (size_t)bytes);
    for (int64_t i = 0; i < pages && i * PAGE < left; i++)
        __atomic_store_n(&s->have[page + i], 1, __ATOMIC_RELEASE);
}

/* Whoever has read the page before goes on: the steps of a recurrence, the rows of a matrix. A run of
 * pages lies under one lock. */
static int64_t pages_ahead(const struct shadow *s, int64_t page)
{
    const int64_t end = (page / AHEAD + 1) * AHEAD;
    int64_t pages = 1;
    const int64_t before = page % AHEAD ? page - 1 : page - AHEAD;
    if (before < 0 || !__atomic_load_n(&s->have[before], __ATOMIC_RELAXED))
        return 1;
    while (page + pages < end && !s->have[page + pages])
        pages++;
    return pages;
}

const void *fetcher_read(struct fetcher *fetcher, int tensor, int64_t offset, int64_t size)
{
    struct shadow *s = &fetcher->shadow[tensor];
    const int64_t page = offset / PAGE;
    (void)size; /* elements are aligned to their size, so none straddles two pages */
    if (!__atomic_load_n(&s->have[page], __ATOMIC_ACQUIRE)) {
        omp_lock_t *lock = &fetcher->lock[page / AHEAD % LOCKS];
        omp_set_lock(lock);
        if (!s->have[page])
            shadow_fetch(fetcher, s, page, pages_ahead(s, page));
        omp_unset_lock(lock);
    }
    return s->host + offset;
}
