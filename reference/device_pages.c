/* Host access to GPU tensors, copied page by page on demand: the witness of one element needs a row and a
 * column, not the whole tensor. */
#include "device_pages.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "judge.h"

enum { AHEAD = 16 };

/* State of a page. The thread that changes it from ABSENT to COMING copies the page; other threads wait. */
enum { ABSENT, COMING, HERE };

struct shadow {
    const void *device;
    char *host;           /* address space for the whole tensor; pages are allocated on first touch */
    unsigned char *state; /* one per page */
    int64_t bytes, pages;
};

struct device_pages {
    struct shadow shadow[PROBLEM_MAX_TENSORS];
    int tensors;
    reference_copy copy;
    reference_gather gather;
};

/* Pages that a thread has recorded, and copies as soon as they make a batch. */
struct recording {
    struct device_pages *fetcher; /* NULL: the thread does not record */
    int count;
    struct reference_piece piece[DEVICE_PAGES_BATCH];
    unsigned char *state[DEVICE_PAGES_BATCH];
};

static _Thread_local struct recording recording;

static int shadow_open(struct shadow *s, const void *device, int64_t bytes)
{
    s->device = device;
    s->bytes = bytes;
    s->pages = (bytes + DEVICE_PAGES_PAGE - 1) / DEVICE_PAGES_PAGE;
    s->state = calloc((size_t)s->pages + 1, 1);
    s->host = mmap(NULL, (size_t)bytes + 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->host == MAP_FAILED)
        s->host = NULL;
    return s->state && s->host ? 0 : -1;
}

struct device_pages *device_pages_open(struct judge_request *request, const int64_t *bytes, int tensors,
                                       reference_copy copy, reference_gather gather)
{
    struct device_pages *fetcher = calloc(1, sizeof *fetcher);
    if (!fetcher)
        return NULL;
    fetcher->tensors = tensors;
    fetcher->copy = copy;
    fetcher->gather = gather;
    for (int t = 0; t < tensors; t++)
        if (shadow_open(&fetcher->shadow[t], request->context.tensor[t], bytes[t]) != 0) {
            device_pages_close(fetcher);
            return NULL;
        }
    request->context.fetcher = fetcher;
    return fetcher;
}

void device_pages_close(struct device_pages *fetcher)
{
    if (!fetcher)
        return;
    for (int t = 0; t < fetcher->tensors; t++) {
        struct shadow *s = &fetcher->shadow[t];
        if (s->host)
            munmap(s->host, (size_t)s->bytes + 1);
        free(s->state);
    }
    free(fetcher);
}

static bool is_here(const unsigned char *state)
{
    return __atomic_load_n(state, __ATOMIC_ACQUIRE) == HERE;
}

static bool claim(unsigned char *state)
{
    unsigned char absent = ABSENT;
    return __atomic_compare_exchange_n(state, &absent, COMING, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void arrive(unsigned char *state)
{
    __atomic_store_n(state, HERE, __ATOMIC_RELEASE);
}

/* --- page by page --- */

/* Reads ahead if the preceding page has been read, as for the steps of a recurrence or the rows of a
 * matrix. */
static int64_t claim_ahead(struct shadow *s, int64_t page)
{
    const int64_t end = (page / AHEAD + 1) * AHEAD < s->pages ? (page / AHEAD + 1) * AHEAD : s->pages;
    const int64_t before = page % AHEAD ? page - 1 : page - AHEAD;
    int64_t next = page + 1;
    if (before >= 0 && is_here(&s->state[before]))
        while (next < end && claim(&s->state[next]))
            next++;
    return next - page;
}

/* A failed copy leaves zeros; the audit of the enclosure then reports the difference. */
static void bring(const struct device_pages *fetcher, struct shadow *s, int64_t page, int64_t pages)
{
    const int64_t offset = page * DEVICE_PAGES_PAGE, left = s->bytes - offset;
    const int64_t bytes = left < pages * DEVICE_PAGES_PAGE ? left : pages * DEVICE_PAGES_PAGE;
    if (fetcher->copy(s->host + offset, s->device, offset, bytes) != 0)
        memset(s->host + offset, 0, (size_t)bytes);
    for (int64_t i = 0; i < pages; i++)
        arrive(&s->state[page + i]);
}

/* --- in batches --- */

/* Copies a batch. Like a failed copy, a failed batch leaves zeros. */
static void bring_noted(struct recording *r)
{
    if (r->count && r->fetcher->gather(r->piece, r->count) != 0)
        for (int i = 0; i < r->count; i++)
            memset(r->piece[i].to, 0, (size_t)r->piece[i].bytes);
    for (int i = 0; i < r->count; i++)
        arrive(r->state[i]);
    r->count = 0;
}

static void note(struct recording *r, struct shadow *s, int64_t page)
{
    const int64_t offset = page * DEVICE_PAGES_PAGE, left = s->bytes - offset;
    r->piece[r->count] =
        (struct reference_piece){.to = s->host + offset,
                                 .from = (const char *)s->device + offset,
                                 .bytes = left < DEVICE_PAGES_PAGE ? left : DEVICE_PAGES_PAGE};
    r->state[r->count++] = &s->state[page];
    if (r->count == DEVICE_PAGES_BATCH)
        bring_noted(r);
}

void device_pages_record(struct device_pages *fetcher)
{
    recording.fetcher = fetcher;
}

void device_pages_gather(void)
{
    bring_noted(&recording);
    recording.fetcher = NULL;
}

/* --- reading --- */

/* Waits until another thread has copied the page. First it copies its own recorded pages, so that two threads
 * never wait for each other. */
static void await(const unsigned char *state)
{
    bring_noted(&recording);
    while (!is_here(state))
        sched_yield();
}

/* Elements are aligned to their size, so no element spans two pages. */
const void *device_pages_read_now(struct device_pages *fetcher, int tensor, int64_t offset)
{
    struct shadow *s = &fetcher->shadow[tensor];
    const int64_t page = offset / DEVICE_PAGES_PAGE;
    if (!is_here(&s->state[page])) {
        if (claim(&s->state[page]))
            bring(fetcher, s, page, claim_ahead(s, page));
        else
            await(&s->state[page]);
    }
    return s->host + offset;
}

/* A recording thread reads a static zero: touching the page itself would allocate it. */
const void *device_pages_read(struct device_pages *fetcher, int tensor, int64_t offset)
{
    static const int64_t zero;
    struct shadow *s = &fetcher->shadow[tensor];
    const int64_t page = offset / DEVICE_PAGES_PAGE;
    if (is_here(&s->state[page]))
        return s->host + offset;
    if (!recording.fetcher)
        return device_pages_read_now(fetcher, tensor, offset);
    if (claim(&s->state[page]))
        note(&recording, s, page);
    return &zero;
}
