/* Gives the witness access to tensors on a GPU, page by page as it touches them. */
#ifndef UNSEEN_FETCHER_H
#define UNSEEN_FETCHER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fetcher;
struct judge_request;

/* Copies `bytes` at `offset` of device memory `source` to host memory; returns 0 or an error. */
typedef int (*reference_copy)(void *to, const void *source, int64_t offset, int64_t bytes);

/* Pages are small: tokens of a sequence are scattered over a large cache, and little else of a page is
 * needed. */
enum { FETCHER_PAGE = 4096, FETCHER_BATCH = 512 };

/* One piece of a batched copy: at most FETCHER_PAGE bytes of device memory. */
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
struct fetcher *fetcher_open(struct judge_request *request, const int64_t *bytes, int tensors,
                             reference_copy copy, reference_gather gather);
void fetcher_close(struct fetcher *fetcher);

/* Host address of the element at byte `offset` of a tensor; fetches it if necessary. While the calling thread
 * records, a missing page is recorded and the element reads as zero. */
const void *fetcher_read(struct fetcher *fetcher, int tensor, int64_t offset);
/* The same, but with the true value even while recording: for values that decide which elements are read
 * next. */
const void *fetcher_read_now(struct fetcher *fetcher, int tensor, int64_t offset);

/* Between these two calls the thread records its reads; the second call fetches all of them in batches. This
 * is faster, since a copy costs little more than its latency. Other threads that need a recorded page wait
 * for it, so no barrier may lie in between. */
void fetcher_record(struct fetcher *fetcher);
void fetcher_gather(void);

#ifdef __cplusplus
}
#endif

#endif
