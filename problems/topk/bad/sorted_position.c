// problem: topk
// verdict: broken
// fault: index into the sorted row
// outcomes: wrong
// when: n > 1

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

static int row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    float *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        return 1;
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t j = 0; j < k; ++j) {
        values[j] = sorted[j];
        indices[j] = j; /* planted: where it is now, not where it was */
    }
    free(sorted);
    return 0;
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
    int failed = 0;
#pragma omp parallel for schedule(static) if (rows > 1) reduction(| : failed)
    for (int64_t r = 0; r < rows; ++r)
        failed |= row_topk(x + r * n, values + r * k, indices + r * k, n, k);
    return failed;
}
