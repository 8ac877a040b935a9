/* Tensors that lie on a GPU, readable on the host page by page: the witness of one element touches a
 * row and a column, not the tensor. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Pages are small where access is strided, and few where a tensor is small. */
enum { PAGE = 64 * 1024 };

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
#pragma omp critical(fetcher)
        if (!s->have[page])
            shadow_fetch(fetcher, s, page);
    }
    return s->host + offset;
}
