/* Philox4x32-10 random words. With the CUDA Toolkit they come from cuRAND: philox_curand.cpp on the host,
 * curand_philox4x32_x.h in kernels. Otherwise they come from our own implementation (philox_portable.c). A
 * test compares both with each other and with known answers.
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef UNSEEN_PHILOX_H
#define UNSEEN_PHILOX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Key of a counter-based generator: block (low, high) has the same words, whatever the order of calls. */
struct philox_key {
    uint64_t seed;
    uint64_t high; /* upper half of the counter: selects the tensor and the input draw */
};

/* Writes `count` blocks of four words each, beginning with block `first`. */
void philox_words(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words);
const char *philox_source(void); /* "cuRAND" or "portable" */

/* The portable implementation, always compiled, for the test that compares both. */
void philox_words_portable(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words);

#ifdef __cplusplus
}
#endif

#endif
