// problem: topk
// verdict: general
// construction: quickselect on the row's column numbers, values looked up in x; qsort of k pairs

#include <stdint.h>
#include <stdlib.h>

/* A total order, without equals: of equal values the lower column comes first. */
static inline int before(const float *x, int32_t a, int32_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t held = *a;
    *a = *b;
    *b = held;
}

static int32_t median(const float *x, int32_t a, int32_t b, int32_t c)
{
    if (before(x, b, a))
        swap(&a, &b);
    return before(x, b, c) ? b : before(x, a, c) ? c : a;
}

/* Afterwards column[0..k-1] are the k first in any order. Invariant: whatever lies before `low` is
 * before everything in low..high, and that before everything behind `high`. */
static void select_columns(const float *x, int32_t *column, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int32_t pivot = median(x, column[low], column[low + (high - low) / 2], column[high]);
        int64_t i = low, j = high;
        while (i <= j) {
            while (before(x, column[i], pivot))
                ++i;
            while (before(x, pivot, column[j]))
                --j;
            if (i <= j)
                swap(&column[i++], &column[j--]);
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

struct found {
    float value;
    int32_t column;
};

static int compare(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    return left->column < right->column ? -1 : 1;
}

static int row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    int32_t *column = malloc((size_t)n * sizeof *column);
    struct found *found = malloc((size_t)k * sizeof *found);
    int failed = !column || !found;
    if (!failed) {
        for (int64_t c = 0; c < n; ++c)
            column[c] = (int32_t)c;
        select_columns(x, column, n, k);
        for (int64_t j = 0; j < k; ++j)
            found[j] = (struct found){x[column[j]], column[j]};
        qsort(found, (size_t)k, sizeof *found, compare);
        for (int64_t j = 0; j < k; ++j) {
            values[j] = found[j].value;
            indices[j] = found[j].column;
        }
    }
    free(column);
    free(found);
    return failed;
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) if (rows > 1) reduction(| : failed)
    for (int64_t r = 0; r < rows; ++r)
        failed |= row_topk(x + r * n, values + r * k, indices + r * k, n, k);
    return failed;
}
