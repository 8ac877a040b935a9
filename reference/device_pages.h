/* Gives the witness access to tensors on a GPU, page by page as it touches them. */
#ifndef UNSEEN_DEVICE_PAGES_H
#define UNSEEN_DEVICE_PAGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device_pages;
struct judge_request;

/* Copies `bytes` at `offset` of device memory `source` to host memory; returns 0 or an error. */
typedef int (*reference_copy)(void *to, const void *source, int64_t offset, int64_t bytes);

/* Pages are small: tokens of a sequence are scattered over a large cache, and little else of a page is
 * needed. */
enum { DEVICE_PAGES_PAGE = 4096, DEVICE_PAGES_BATCH = 512 };

/* One piece of a batched copy: at most DEVICE_PAGES_PAGE bytes of device memory. */
struct reference_piece {
    void *to;
    const void *from;
    int64_t bytes;
};

/* Copies `count` pieces to host memory, in one transfer if that is cheaper. Returns 0 or an error. Must be
 * thread-safe. */
typedef int (*reference_gather)(const struct reference_piece *piece, int64_t count);

/* Makes the request's tensors readable on the host. `bytes` has the size of each tensor. Returns NULL when
 * out of memory. */
struct device_pages *device_pages_open(struct judge_request *request, const int64_t *bytes, int tensors,
                                       reference_copy copy, reference_gather gather);
void device_pages_close(struct device_pages *fetcher);

/* Host address of the element at byte `offset` of a tensor; fetches it if necessary. While the calling thread
 * records, a missing page is recorded and the element reads as zero. */
const void *device_pages_read(struct device_pages *fetcher, int tensor, int64_t offset);
/* The same, but with the true value even while recording: for values that decide which elements are read
 * next. */
const void *device_pages_read_now(struct device_pages *fetcher, int tensor, int64_t offset);

/* Between these two calls the thread records its reads; the second call fetches all of them in batches. This
 * is faster, since a copy costs little more than its latency. Other threads that need a recorded page wait
 * for it, so no barrier may lie in between. */
void device_pages_record(struct device_pages *fetcher);
void device_pages_gather(void);

#ifdef __cplusplus
}
#endif

#endif
