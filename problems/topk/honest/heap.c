// problem: topk
// verdict: general
// construction: a heap of the k best (value, column) pairs, the worst on top; rows over the cores

#include <stdint.h>

enum { MAX_K = 4096 };

struct pair {
    float value;
    int32_t column;
};

/* A total order: of equal values the one in the lower column is better. */
static inline int worse(struct pair a, struct pair b)
{
    return a.value < b.value || (a.value == b.value && a.column > b.column);
}

/* Puts one pair where heap[at] was and lets it sink; each pair is better than the one above it. */
static void sink(struct pair *heap, int64_t count, int64_t at, struct pair one)
{
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && worse(heap[child + 1], heap[child]))
            ++child;
        if (!worse(heap[child], one))
            break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    struct pair heap[MAX_K];
    for (int64_t c = 0; c < k; ++c)
        heap[c] = (struct pair){x[c], (int32_t)c};
    for (int64_t at = k / 2 - 1; at >= 0; --at)
        sink(heap, k, at, heap[at]);
    for (int64_t c = k; c < n; ++c) /* a later column is never better than an equal on top */
        if (x[c] > heap[0].value)
            sink(heap, k, 0, (struct pair){x[c], (int32_t)c});
    for (int64_t j = k - 1; j >= 0; --j) {
        values[j] = heap[0].value;
        indices[j] = heap[0].column;
        sink(heap, j, 0, heap[j]);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(dynamic) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_topk(x + r * n, values + r * k, indices + r * k, n, k);
    return 0;
}
