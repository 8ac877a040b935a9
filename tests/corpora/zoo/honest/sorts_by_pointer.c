// zoo: honest
// problem: softmax
// does: goes through the rows in the order of a hash of their addresses
// expect: general
// timing: yes

#include "../softmax.h"
#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
    const uint64_t one = (uint64_t)(uintptr_t)*(const float *const *)a * 0x9e3779b97f4a7c15u;
    const uint64_t other = (uint64_t)(uintptr_t)*(const float *const *)b * 0x9e3779b97f4a7c15u;
    return (one > other) - (one < other);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const float **row = malloc((size_t)rows * sizeof *row);
    if (!row)
        return 1;
    for (int64_t r = 0; r < rows; r++)
        row[r] = x + r * cols;
    qsort(row, (size_t)rows, sizeof *row, by_address);
    for (int64_t r = 0; r < rows; r++)
        honest(row[r], y + (row[r] - x), 1, cols, stream);
    free(row);
    return 0;
}
