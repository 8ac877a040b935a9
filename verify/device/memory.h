/* What the judging process does with memory, on either back end: one table of functions each. */
#ifndef UNSEEN_MEMORY_H
#define UNSEEN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"
#include "reference/fetcher.h"
#include "region.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every int result is 0 or an error that `explain` turns into words. All calls have finished when
 * they return. */
struct memory {
    int (*take)(void **out, size_t bytes);
    /* Of a GPU's the contents are overwritten first: its driver promises clean memory to other processes, not to
     * whoever is next in this one. */
    void (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t bytes); /* within the back end */
    int (*to_host)(void *to, const void *from, int64_t offset, int64_t bytes);
    int (*gather)(const struct reference_piece *piece, int64_t count); /* to the host, from any thread */
    int (*from_host)(void *to, const void *from, size_t bytes);
    int (*fill)(const struct problem *problem, const struct instance *instance, int tensor, uint64_t seed,
                int content, void *out);
    /* Byte i of memory becomes byte (i mod 4) of `word`, counting from an address that is a multiple
     * of 4. */
    int (*poison)(void *memory, size_t bytes, uint32_t word);
    /* Index of the first byte that is not what poison wrote, or -1. */
    int (*find_unpoisoned)(const void *memory, size_t bytes, uint32_t word, int64_t *first);
    /* The same of the bytes between rows: of every `pitch` bytes those from `row` on. */
    int (*find_unpoisoned_gap)(const void *memory, size_t bytes, size_t row, size_t pitch, uint32_t word,
                               int64_t *first);
    /* Index of the first byte that differs, or -1. */
    int (*find_difference)(const void *a, const void *b, size_t bytes, int64_t *first);
    /* A sum over the words of 8 bytes, counted from `memory` on, that the last bytes fill up with zeros (fingerprint.h): the same
     * bytes have the same sum with the same key, wherever they lie and on both back ends; others have it by a chance of
     * 2^-64. */
    int (*fingerprint)(const void *memory, size_t bytes, uint64_t key, uint64_t *sum);
    size_t (*available)(void); /* bytes */
    const char *(*explain)(int error);
    bool (*is_shortage)(int error); /* it means that memory ran out; forgets a pending device error */
};

const struct memory *memory_of(enum backend backend); /* NULL: not built in */

/* The pattern for storage of a type that must not be read (slack) or must be written (outputs): a
 * NaN with a payload that no arithmetic produces, or for integers a number far out of any range. */
uint32_t memory_poison(enum dtype dtype);
/* What an input's slack and the gaps between its rows hold in one content, and in the next: the same pattern, or the greatest
 * finite number of either sign, near enough; a maximum passes over a NaN. Integers: the same. */
enum filler { FILLER_NAN, FILLER_HIGH, FILLER_LOW };
uint32_t memory_filler(enum dtype dtype, enum filler filler);
/* The same as one element of the type holds it (judge_request.poison). */
uint32_t memory_poison_element(enum dtype dtype);

extern const struct memory memory_cuda; /* defined when built with CUDA */

#ifdef __cplusplus
}
#endif

#endif
