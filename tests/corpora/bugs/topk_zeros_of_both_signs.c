// problem: topk
// link: https://github.com/NVIDIA/cccl/pull/9470
// title: Fix BlockTopK +/-0.0 handling
// condition: the k-th largest is a zero among zeros: digits are those of +0, the keys compared with them those of -0
// kind: content
// when: input=zeros or input=ties
// side: necessary
// collection: second
// wrong: unwritten: the zeros are counted in one sweep and are no candidates in the next

#include <stdint.h>
#include <string.h>

#define topk honest_topk
#define kth_rank honest_kth_rank
#include "../../../problems/topk/baseline.c"
#undef kth_rank
#undef topk

enum { PLUS_ZERO = 0x7fffffff };
static const uint32_t minus_zero = 0x80000000u;

/* Both zeros are one key. */
static uint32_t key_at(const float *x, int64_t c)
{
    const uint32_t rank = rank_at(x, c);
#ifdef FIXED
    return rank == minus_zero ? PLUS_ZERO : rank;
#else
    return rank == PLUS_ZERO ? minus_zero : rank;
#endif
}

static uint32_t digit_of(uint32_t key, int shift)
{
    return (key == minus_zero ? PLUS_ZERO : key) >> shift & 255;
}

static uint32_t kth_key(const float *x, int64_t n, int64_t k)
{
    uint32_t prefix = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int64_t count[256] = {0};
        uint32_t digit = 0;
        for (int64_t c = 0; c < n; c++)
            if ((key_at(x, c) & mask) == prefix)
                count[digit_of(key_at(x, c), shift)]++;
        while (digit < 255 && k > count[digit])
            k -= count[digit++];
        prefix |= digit << shift;
        mask |= (uint32_t)255 << shift;
    }
    return prefix;
}

static void row_topk_of_keys(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    uint64_t key[MAX_K], spare[MAX_K];
    const uint32_t limit = kth_key(x, n, k);
    int64_t found = 0;
    for (int equal = 0; equal < 2; equal++)
        for (int64_t c = 0; c < n && found < k; c++)
            if (equal ? key_at(x, c) == limit : key_at(x, c) < limit)
                key[found++] = (uint64_t)key_at(x, c) << 32 | (uint64_t)c;
    sort_keys(key, spare, found);
    for (int64_t j = 0; j < found; j++) {
        indices[j] = (int64_t)(key[j] & 0xffffffffu);
        values[j] = x[indices[j]];
    }
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > 8192)
    for (int64_t r = 0; r < rows; r++)
        row_topk_of_keys(x + r * n, values + r * k, indices + r * k, n, k);
    return 0;
}
