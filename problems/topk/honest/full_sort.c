// problem: topk
// verdict: general
// construction: the whole row as 64-bit keys (rank, column), sorted by radix, 11 bits a pass

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 11, DIGITS = 1 << BITS, PASSES = 3 }; /* 33 bits hold a rank */

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
static inline uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

static inline int digit_of(uint64_t key, int pass)
{
    return (int)(key >> (32 + BITS * pass)) & (DIGITS - 1);
}

/* By rank, in order of columns where that is equal; the result lies in spare. */
static void sort_keys(uint64_t *key, uint64_t *spare, int64_t n)
{
    for (int pass = 0; pass < PASSES; ++pass) {
        int32_t start[DIGITS] = {0}, sum = 0;
        for (int64_t i = 0; i < n; ++i)
            ++start[digit_of(key[i], pass)];
        for (int d = 0; d < DIGITS; ++d) {
            int32_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; ++i)
            spare[start[digit_of(key[i], pass)]++] = key[i];
        uint64_t *sorted = spare;
        spare = key;
        key = sorted;
    }
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k,
                     uint64_t *work)
{
    for (int64_t c = 0; c < n; ++c) {
        uint32_t bits;
        memcpy(&bits, x + c, sizeof bits);
        work[c] = (uint64_t)rank_of(bits) << 32 | (uint64_t)c;
    }
    sort_keys(work, work + n, n);
    for (int64_t j = 0; j < k; ++j) {
        uint32_t bits = rank_of((uint32_t)(work[n + j] >> 32));
        memcpy(values + j, &bits, sizeof bits);
        indices[j] = (int64_t)(work[n + j] & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
    int failed = 0;
#pragma omp parallel if (rows > 1) reduction(| : failed)
    {
        uint64_t *work = malloc(2 * (size_t)n * sizeof *work);
        failed = !work;
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; ++r)
            if (work)
                row_topk(x + r * n, values + r * k, indices + r * k, n, k, work);
        free(work);
    }
    return failed;
}
