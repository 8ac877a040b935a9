// problem: topk
// verdict: general
// construction: bisection of the ordered bit patterns for the k-th largest, a counting sweep a bit;
//   all above it, then its equals from the last column on; a Shell sort of both outputs in place

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Ordered as the floats are; -0 counts as +0, so that equal floats have equal numbers. */
static inline int32_t number_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >= 0 ? bits : (int32_t)(0x80000000u - (uint32_t)bits);
}

static int64_t count_from(const float *x, int64_t n, int32_t least)
{
    int64_t count = 0;
    for (int64_t c = 0; c < n; ++c)
        count += number_of(x[c]) >= least;
    return count;
}

/* The greatest number that at least k columns reach. */
static int32_t kth_number(const float *x, int64_t n, int64_t k)
{
    int64_t low = number_of(-INFINITY), high = number_of(INFINITY);
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (count_from(x, n, (int32_t)middle) >= k)
            low = middle;
        else
            high = middle - 1;
    }
    return (int32_t)low;
}

/* Descending; the gaps are about 2.25 times smaller each, the last one is 1. */
static void shell_sort(float *values, int64_t *indices, int64_t count)
{
    static const int gaps[] = {2191, 973, 432, 192, 85, 37, 16, 7, 3, 1};
    for (int g = 0; g < 10; ++g) {
        for (int64_t i = gaps[g]; i < count; ++i) {
            float value = values[i];
            int64_t index = indices[i], at = i;
            for (; at >= gaps[g] && values[at - gaps[g]] < value; at -= gaps[g]) {
                values[at] = values[at - gaps[g]];
                indices[at] = indices[at - gaps[g]];
            }
            values[at] = value;
            indices[at] = index;
        }
    }
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    int32_t least = kth_number(x, n, k);
    int64_t held = 0;
    for (int64_t c = 0; c < n; ++c) {
        if (number_of(x[c]) <= least)
            continue;
        values[held] = x[c];
        indices[held++] = c;
    }
    for (int64_t c = n - 1; held < k; --c) {
        if (number_of(x[c]) != least)
            continue;
        values[held] = x[c];
        indices[held++] = c;
    }
    shell_sort(values, indices, k);
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
