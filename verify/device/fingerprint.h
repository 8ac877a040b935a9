/* Terms of a tensor's fingerprint (memory.h): each 8-byte word is mixed with its index and a key. The sum
 * modulo 2^64 is independent of order. So any number of threads, on either backend, computes the same
 * fingerprint. */
#ifndef UNSEEN_FINGERPRINT_H
#define UNSEEN_FINGERPRINT_H

#include <stdint.h>

#ifdef __CUDACC__
#define FINGERPRINT_FN __host__ __device__ static inline
#else
#define FINGERPRINT_FN static inline
#endif

/* Mixes word `index` of a tensor. The finalizer of SplitMix64 (Steele, Lea, Flood 2014); for each index and
 * key it is a bijection of the word. */
FINGERPRINT_FN uint64_t fingerprint_mix(uint64_t word, uint64_t index, uint64_t key)
{
    uint64_t z = word ^ (key + (index + 1) * 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
