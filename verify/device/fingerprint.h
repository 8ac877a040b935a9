/* What a tensor's fingerprint adds up (memory.h): 8 bytes, mixed with their place and with a key. A sum modulo 2^64 knows no order:
 * any number of threads, on either back end, come to the same. */
#ifndef UNSEEN_FINGERPRINT_H
#define UNSEEN_FINGERPRINT_H

#include <stdint.h>

#ifdef __CUDACC__
#define FINGERPRINT_FN __host__ __device__ static inline
#else
#define FINGERPRINT_FN static inline
#endif

/* Word `index` of a tensor. The finalizer of SplitMix64 (Steele, Lea, Flood 2014), a bijection of the word for each place and key. */
FINGERPRINT_FN uint64_t fingerprint_mix(uint64_t word, uint64_t index, uint64_t key)
{
    uint64_t z = word ^ (key + (index + 1) * 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
