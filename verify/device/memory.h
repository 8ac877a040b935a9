/* Memory operations of the judging process: one table of functions per backend. */
#ifndef UNSEEN_MEMORY_H
#define UNSEEN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"
#include "reference/device_pages.h"
#include "region.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One search in memory of the backend. */
struct memory_search {
    const void *memory;
    size_t bytes;
    const void *other; /* search for a byte that differs from this memory; NULL: from the poison */
    uint32_t word;     /* the poison */
    /* with a pitch: only the padding between rows, that is, of every `pitch` bytes those from `row` on */
    size_t row, pitch;
    int64_t first; /* result: index of the first such byte; -1: there is none */
};

enum { MEMORY_SEARCHES = 4 * PROBLEM_MAX_TENSORS }; /* the most searches of one call */

/* Every int result is 0 or an error that `explain` describes. Calls take effect one after another. On a GPU
 * copy, fill and poison may return before they have ended, and later calls of this table see their effect.
 * `finish` waits for them: call it before another process or another stream uses the memory. On a GPU that
 * others share, each wait may cost a time slice of theirs. */
struct memory {
    int (*take)(void **out, size_t bytes);
    /* GPU memory is overwritten first: the driver clears memory for other processes, but not for later
     * allocations of this one. */
    void (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t bytes); /* within the backend's memory */
    int (*to_host)(void *to, const void *from, int64_t offset, int64_t bytes);
    int (*gather)(const struct reference_piece *piece, int64_t count); /* copies to the host; thread-safe */
    int (*from_host)(void *to, const void *from, size_t bytes);
    int (*fill)(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
                int content, void *out);
    /* Byte i of memory becomes byte (i mod 4) of `word`, counted from an address that is a multiple of 4. */
    int (*poison)(void *memory, size_t bytes, uint32_t word);
    int (*search)(struct memory_search *list, int count); /* fills list[i].first with a single wait */
    int (*finish)(void);
    /* The fingerprint (fingerprint.h): a sum over 8-byte words from `memory` on; the last word is padded with
     * zeros. Equal bytes have equal sums for the same key, at any address and on both backends. Different
     * bytes collide with probability 2^-64. */
    int (*fingerprint)(const void *memory, size_t bytes, uint64_t key, uint64_t *sum);
    size_t (*available)(void); /* bytes */
    /* Only of a GPU: pinned main memory, and copies between it and whole regions. Copy engines do these, and
     * wait for no kernel of another process. `finish` waits for them. */
    int (*image_take)(void **out, size_t bytes);
    void (*image_release)(void *image);
    int (*send)(void *to, const void *image, size_t bytes);
    int (*fetch)(void *image, const void *from, size_t bytes);
    const char *(*explain)(int error);
    bool (*is_shortage)(int error); /* is it out of memory? Also clears a pending device error */
};

const struct memory *memory_of(enum backend backend); /* NULL: the build lacks this backend */

/* The filler of an input's slack and of the padding between its rows, which changes from one input draw to
 * the next. It is the poison, or about the largest finite number of either sign, since a maximum ignores a
 * NaN. For integers it is always the poison. */
enum filler { FILLER_NAN, FILLER_HIGH, FILLER_LOW };
uint32_t memory_filler(enum dtype dtype, enum filler filler);
/* The poison's bits in one element of the dtype (judge_request.poison). */
uint32_t memory_poison_element(enum dtype dtype);

extern const struct memory memory_cuda; /* only in a build with CUDA */

#ifdef __cplusplus
}
#endif

#endif
