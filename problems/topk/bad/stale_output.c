// problem: topk
// verdict: broken
// fault: stale output
// outcomes: wrong unwritten
// when: any

#include <stdint.h>
#include <string.h>

/* planted: the outputs hold the list while it grows, and are taken to start at -inf */
static void insert(float value, int64_t c, float *values, int64_t *indices, int64_t k)
{
    int64_t j = k - 1;
    if (!(value > values[j]))
        return;
    for (; j > 0 && value > values[j - 1]; --j) {
        values[j] = values[j - 1];
        indices[j] = indices[j - 1];
    }
    values[j] = value;
    indices[j] = c;
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    for (int64_t c = 0; c < n; ++c)
        insert(x[c], c, values, indices, k);
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
