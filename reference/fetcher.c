/* Tensors that lie on a GPU, readable on the host page by page: the witness of one element touches a
 * row and a column, not the tensor. */
#include "judge.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Small: tokens of a sequence are scattered over a large cache, and a copy of 4 KiB costs little more
 * than its latency. Threads that miss different pages fetch them side by side. */
enum { PAGE = 4096, LOCKS = 64 };

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
static void shadow_fetch(const struct fetcher *fetcher, struct shadow *s, int64_t page)
{
    const int64_t offset = page * PAGE;
    const int64_t bytes = s->bytes - offset < PAGE ? s->bytes - offset : PAGE;
    if (fetcher->copy(s->host + offset, s->device, offset, bytes) != 0)
        memset(s->host + offset, 0, (size_t)bytes);
    __atomic_store_n(&s->have[page], 1, __ATOMIC_RELEASE);
}

const void *fetcher_read(struct fetcher *fetcher, int tensor, int64_t offset, int64_t size)
{
    struct shadow *s = &fetcher->shadow[tensor];
    const int64_t page = offset / PAGE;
    (void)size; /* elements are aligned to their size, so none straddles two pages */
    if (!__atomic_load_n(&s->have[page], __ATOMIC_ACQUIRE)) {
        omp_lock_t *lock = &fetcher->lock[page % LOCKS];
        omp_set_lock(lock);
        if (!s->have[page])
            shadow_fetch(fetcher, s, page);
        omp_unset_lock(lock);
    }
    return s->host + offset;
}
