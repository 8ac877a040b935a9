/* What an instrumented candidate has executed, in memory that the judge shares with the runner. The judge
 * clears it before a call and reads it afterwards. Nothing in it is trusted: the candidate may write
 * there.
 *
 * It is a hash table of points in the candidate's code. A point is known by its place: the return address
 * of its call of the tracing function, less the address where the object was loaded. Every field is 0
 * before the point is reached, and grows by maximum, so that the order of threads does not matter. */
#ifndef UNSEEN_COVERAGE_MAP_H
#define UNSEEN_COVERAGE_MAP_H

#include <stdint.h>

enum { COVERAGE_NEXT = 2, COVERAGE_CASES = 63, COVERAGE_PROBES = 64, COVERAGE_FEWEST = 1 << 10 };

/* Relations that two operands had. */
enum { COVERAGE_LESS = 1, COVERAGE_EQUAL = 2, COVERAGE_GREATER = 4 };

struct coverage_point {
    uint32_t place;               /* 0: the slot is free */
    uint32_t relations;           /* of a comparison of integers */
    uint32_t next[COVERAGE_NEXT]; /* places of the first two blocks that ran right after it */
    /* Operands as coverage_rank has them, [0] and [1]; `least` holds complements, since all fields grow. */
    uint64_t most[2], least[2];
    /* of a switch: bit i: its i-th value occurred; bit COVERAGE_CASES: one that is none of these */
    uint64_t cases;
    uint64_t hits; /* how often it was reached; with several threads about so often */
};

/* The order of signed numbers, as unsigned ones. */
static inline uint64_t coverage_rank(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

static inline int64_t coverage_value(uint64_t rank)
{
    return (int64_t)(rank ^ (uint64_t)1 << 63);
}

/* The slot of a place in a map of `slots` points, a power of two, at the given attempt. */
static inline uint32_t coverage_slot(uint32_t place, uint32_t attempt, uint32_t slots)
{
    return ((place * 2654435761u >> 7) + attempt) & (slots - 1);
}

#endif
