/* Bit sets and element verdicts of discrete problems (REF_DISCRETE), whose results are right or wrong without
 * a distance. A row's scratch holds one bit per position; many lanes set bits at once. */
#ifndef UNSEEN_BITSET_H
#define UNSEEN_BITSET_H

#define REF_POISON 0x7fa57fa5u /* the bits of an unwritten 32-bit element */
#define REF_POISON64 0x7fa57fa57fa57fa5u

#ifdef __CUDA_ARCH__
#define BITSET_OR(word, bit) atomicOr(word, bit)
#define BITSET_ADD(word) atomicAdd(word, 1u)
#else
#define BITSET_OR(word, bit) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED)
#define BITSET_ADD(word) __atomic_fetch_add(word, 1u, __ATOMIC_RELAXED)
#endif

struct element_verdict {
    int tensor;       /* the wrong output, or the first one */
    double got, want; /* want is NaN if several values are right */
    double expected;  /* the right value of the first output at this position */
    bool right, unwritten;
};

/* Scratch numbers that hold `count` bits. */
REF_FN int64_t bitset_words(int64_t count)
{
    return count / (8 * (int64_t)sizeof(num)) + 1;
}

REF_FN void bitset_clear(num *at)
{
    for (size_t i = 0; i < sizeof *at / sizeof(uint32_t); i++)
        ((uint32_t *)at)[i] = 0;
}

/* Returns whether the bit was already set. */
REF_FN bool bitset_set(num *marks, int64_t i)
{
    const uint32_t bit = 1u << i % 32;
    return (BITSET_OR((uint32_t *)marks + i / 32, bit) & bit) != 0;
}

REF_FN bool bitset_has(const num *marks, int64_t i)
{
    return ((const uint32_t *)marks)[i / 32] >> i % 32 & 1;
}

/* A counter in cleared scratch: returns 0, 1, 2, .. to successive callers. */
REF_FN int64_t bitset_count(num *counter)
{
    return BITSET_ADD((uint32_t *)counter);
}

REF_FN int64_t bitset_counted(const num *counter)
{
    return *(const uint32_t *)counter;
}

#endif
