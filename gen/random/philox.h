/* Philox4x32-10 words, cuRAND's where the CUDA Toolkit is there (philox_curand.cpp on the host,
 * curand_philox4x32_x.h itself in kernels), the same published algorithm otherwise
 * (philox_portable.c); a test holds them against each other and against known answers.
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef UNSEEN_PHILOX_H
#define UNSEEN_PHILOX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counter-based: block (low, high) of a key is the same words whoever asks and in whatever order. */
struct philox_key {
    uint64_t seed;
    uint64_t high; /* upper half of the counter: which tensor of which content */
};

/* `count` blocks of four words each, from block `first` on. */
void philox_words(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words);
const char *philox_source(void); /* "cuRAND" or "portable" */

/* The portable implementation is always there, for the test that compares the two. */
void philox_words_portable(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words);

#ifdef __cplusplus
}
#endif

#endif
