/* A hash from one 64-bit word to another, for seeds, keys and hashes. */
#ifndef UNSEEN_MIX_H
#define UNSEEN_MIX_H

#include <stdint.h>

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). 0 stays 0. */
static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
