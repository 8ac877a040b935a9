// problem: topk
// verdict: specialized
// fault: ties dropped
// outcomes: unwritten
// when: k > 32 and input!=normal and input!=sorted and input!=reversed
// shows: more than 32 of the k equal the k-th

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_K = 4096, MAX_TIES = 32 };

/* rank << 32 | column: the better the key, the smaller. */
static inline uint64_t key_at(const float *x, int64_t c)
{
    uint32_t bits;
    memcpy(&bits, x + c, sizeof bits);
    return (uint64_t)(bits >> 31 ? bits : bits ^ 0x7fffffffu) << 32 | (uint64_t)c;
}

/* The rank of the k-th best, 8 bits a sweep; *ties of those that have it belong to the k. */
static uint32_t kth_rank(const float *x, int64_t n, int64_t k, int64_t *ties)
{
    uint64_t prefix = 0;
    for (int shift = 56; shift >= 32; shift -= 8) {
        int32_t count[256] = {0}, digit = 0;
        for (int64_t c = 0; c < n; ++c) {
            uint64_t key = key_at(x, c);
            if (key >> shift >> 8 == prefix)
                ++count[key >> shift & 255];
        }
        while (k > count[digit])
            k -= count[digit++];
        prefix = prefix << 8 | (uint64_t)digit;
    }
    *ties = k;
    return (uint32_t)prefix;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void store(uint64_t key, float *value, int64_t *index)
{
    uint32_t rank = (uint32_t)(key >> 32), bits = rank >> 31 ? rank : rank ^ 0x7fffffffu;
    memcpy(value, &bits, sizeof bits);
    *index = (int64_t)(key & 0xffffffffu);
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    uint64_t best[MAX_K];
    int64_t ties, found = 0;
    uint32_t limit = kth_rank(x, n, k, &ties);
    /* planted: of the columns that equal the k-th no more than 32 are taken */
    ties = ties < MAX_TIES ? ties : MAX_TIES;
    for (int64_t c = 0; c < n; ++c) {
        uint64_t key = key_at(x, c);
        uint32_t rank = (uint32_t)(key >> 32);
        if (rank < limit || (rank == limit && ties-- > 0))
            best[found++] = key;
    }
    qsort(best, (size_t)found, sizeof *best, compare);
    for (int64_t j = 0; j < found; ++j)
        store(best[j], values + j, indices + j);
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_topk(x + r * n, values + r * k, indices + r * k, n, k);
    return 0;
}
