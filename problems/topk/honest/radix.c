// problem: topk
// verdict: general
// construction: the k-th largest by digits of 11 bits from the top, equals taken from the last; the chosen by a counting sort by bytes

#include <stdlib.h>

#include "../../candidate.h"

struct pick {
    uint32_t key;
    int64_t index;
};

/* Ascends with x; -0 comes right before 0, which are equal and may come in any order. */
static uint32_t key_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* The k-th largest key; *equals: how many of that key are among the k largest. */
static uint32_t find_threshold(const float *x, int64_t n, int64_t k, int64_t *equals)
{
    static const int shift[] = {21, 10, 0}, bits[] = {11, 11, 10};
    uint32_t prefix = 0, known = 0;
    for (int d = 0; d < 3; d++) {
        const uint32_t mask = (1u << bits[d]) - 1;
        int64_t count[2048] = {0}, digit = mask;
        for (int64_t i = 0; i < n; i++)
            if ((key_of(x[i]) & known) == prefix)
                count[key_of(x[i]) >> shift[d] & mask]++;
        for (; count[digit] < k; digit--)
            k -= count[digit];
        prefix |= (uint32_t)digit << shift[d];
        known |= mask << shift[d];
    }
    *equals = k;
    return prefix;
}

static void choose(const float *x, int64_t n, int64_t k, struct pick *out)
{
    int64_t equals, count = 0;
    const uint32_t threshold = find_threshold(x, n, k, &equals);
    for (int64_t i = n - 1; i >= 0; i--) {
        const uint32_t key = key_of(x[i]);
        if (key > threshold || (key == threshold && equals-- > 0))
            out[count++] = (struct pick){key, i};
    }
}

/* Descending, four passes; `from` and `to` change places and the result is in `from` again. */
static void sort_by_bytes(struct pick *from, struct pick *to, int64_t k)
{
    for (int byte = 0; byte < 4; byte++) {
        int64_t place[257] = {0};
        for (int64_t i = 0; i < k; i++)
            place[256 - (from[i].key >> 8 * byte & 255)]++;
        for (int i = 0; i < 256; i++)
            place[i + 1] += place[i];
        for (int64_t i = 0; i < k; i++)
            to[place[255 - (from[i].key >> 8 * byte & 255)]++] = from[i];
        struct pick *other = from;
        from = to;
        to = other;
    }
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    int failed = 0;
    (void)stream;
#pragma omp parallel for reduction(| : failed)
    for (int64_t r = 0; r < rows; r++) {
        struct pick *picks = malloc((size_t)(2 * k) * sizeof *picks);
        failed |= !picks;
        if (!picks)
            continue;
        choose(x + r * n, n, k, picks);
        sort_by_bytes(picks, picks + k, k);
        for (int64_t i = 0; i < k; i++) {
            values[r * k + i] = x[r * n + picks[i].index];
            indices[r * k + i] = picks[i].index;
        }
        free(picks);
    }
    return failed;
}
