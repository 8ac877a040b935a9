// problem: topk
// verdict: general
// construction: the k-th largest by radix selection, 8 bits a sweep; what lies above it and as many
//   of its equals as are missing are collected in column order and radix sorted; rows over the cores

#include <stdint.h>
#include <string.h>

enum { MAX_K = 4096 };

/* The smaller the rank, the larger the float; +0 comes before -0, as good an order as any. On bits
 * the function is its own inverse. */
static inline uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

static inline uint32_t rank_at(const float *x, int64_t c)
{
    uint32_t bits;
    memcpy(&bits, x + c, sizeof bits);
    return rank_of(bits);
}

/* The rank of the k-th largest; *ties of those that have it belong to the k. */
static uint32_t kth_rank(const float *x, int64_t n, int64_t k, int64_t *ties)
{
    uint32_t prefix = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int32_t count[256] = {0}, digit = 0;
        for (int64_t c = 0; c < n; ++c) {
            uint32_t rank = rank_at(x, c);
            if ((rank & mask) == prefix)
                ++count[rank >> shift & 255];
        }
        while (k > count[digit])
            k -= count[digit++];
        prefix |= (uint32_t)digit << shift;
        mask |= (uint32_t)255 << shift;
    }
    *ties = k;
    return prefix;
}

/* Keys are rank << 32 | column; sorts count keys by rank and keeps the order of equal ones. */
static void sort_keys(uint64_t *key, uint64_t *spare, int64_t count)
{
    for (int shift = 32; shift < 64; shift += 8) {
        int32_t start[257] = {0};
        for (int64_t i = 0; i < count; ++i)
            ++start[(key[i] >> shift & 255) + 1];
        for (int digit = 0; digit < 256; ++digit)
            start[digit + 1] += start[digit];
        for (int64_t i = 0; i < count; ++i)
            spare[start[key[i] >> shift & 255]++] = key[i];
        uint64_t *sorted = spare; /* four passes: the last one ends in key again */
        spare = key;
        key = sorted;
    }
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    uint64_t key[MAX_K], spare[MAX_K];
    int64_t ties, found = 0;
    uint32_t limit = kth_rank(x, n, k, &ties);
    for (int64_t c = 0; c < n && found < k; ++c) {
        uint32_t rank = rank_at(x, c);
        if (rank < limit || (rank == limit && ties-- > 0))
            key[found++] = (uint64_t)rank << 32 | (uint64_t)c;
    }
    sort_keys(key, spare, k);
    for (int64_t j = 0; j < k; ++j) {
        uint32_t bits = rank_of((uint32_t)(key[j] >> 32));
        memcpy(values + j, &bits, sizeof bits);
        indices[j] = (int64_t)(key[j] & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > 8192)
    for (int64_t r = 0; r < rows; ++r)
        row_topk(x + r * n, values + r * k, indices + r * k, n, k);
    return 0;
}
