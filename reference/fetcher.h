/* Bringing tensors that lie on a GPU to the witness, page by page as it touches them. */
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

/* Small: tokens of a sequence are scattered over a large cache, and little else of a page is wanted. */
enum { FETCHER_PAGE = 4096, FETCHER_BATCH = 512 };

/* What is copied together with others: at most FETCHER_PAGE bytes of device memory. */
struct reference_piece {
    void *to;
    const void *from;
    int64_t bytes;
};

/* Copies `count` pieces to host memory, in one go where that is cheaper; returns 0 or an error. Threads call
 * it side by side. */
typedef int (*reference_gather)(const struct reference_piece *piece, int64_t count);

/* Make the request's tensors readable on the host. `bytes` is the size of each tensor. NULL when out of
 * memory. */
struct fetcher *fetcher_open(struct judge_request *request, const int64_t *bytes, int tensors,
                             reference_copy copy, reference_gather gather);
void fetcher_close(struct fetcher *fetcher);

/* Host address of an element at byte `offset` of a tensor, fetched when necessary. While the calling thread
 * records, what is not there is noted and reads as zero. */
const void *fetcher_read(struct fetcher *fetcher, int tensor, int64_t offset);
/* The same, but true even while recording: for what decides which other elements are read. */
const void *fetcher_read_now(struct fetcher *fetcher, int tensor, int64_t offset);

/* A copy costs little more than its latency, so that a thread which knows what it is going to read does so
 * in advance, between these two, and the second brings all of it in batches. Other threads that want a page
 * noted here wait for it: no barrier may lie in between. */
void fetcher_record(struct fetcher *fetcher);
void fetcher_gather(void);

#ifdef __cplusplus
}
#endif

#endif
