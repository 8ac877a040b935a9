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

/* Every int result is 0 or an error that `explain` describes. All calls are synchronous. */
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
    /* *first is the index of the first byte that differs from the poison, or -1. */
    int (*find_unpoisoned)(const void *memory, size_t bytes, uint32_t word, int64_t *first);
    /* The same for the padding between rows: of every `pitch` bytes, those from `row` on. */
    int (*find_unpoisoned_gap)(const void *memory, size_t bytes, size_t row, size_t pitch, uint32_t word,
                               int64_t *first);
    /* *first is the index of the first byte that differs, or -1. */
    int (*find_difference)(const void *a, const void *b, size_t bytes, int64_t *first);
    /* The fingerprint (fingerprint.h): a sum over 8-byte words from `memory` on; the last word is padded with
     * zeros. Equal bytes have equal sums for the same key, at any address and on both backends. Different
     * bytes collide with probability 2^-64. */
    int (*fingerprint)(const void *memory, size_t bytes, uint64_t key, uint64_t *sum);
    size_t (*available)(void); /* bytes */
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
