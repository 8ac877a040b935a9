// problem: topk
// verdict: general
// construction: a heap of the k best keys (rank, column), the worst on top; rows over the cores

#include <stdint.h>
#include <string.h>

enum { MAX_K = 4096 };

/* rank << 32 | column: the better the key, the smaller. */
static inline uint64_t key_at(const float *x, int64_t c)
{
    uint32_t bits;
    memcpy(&bits, x + c, sizeof bits);
    return (uint64_t)(bits >> 31 ? bits : bits ^ 0x7fffffffu) << 32 | (uint64_t)c;
}

/* Replaces heap[0], the worst of count keys. */
static void replace_worst(uint64_t *heap, int64_t count, uint64_t key)
{
    int64_t at = 0, child = 1;
    for (; child < count; at = child, child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[child] <= key)
            break;
        heap[at] = heap[child];
    }
    heap[at] = key;
}

static void store(uint64_t key, float *value, int64_t *index)
{
    uint32_t rank = (uint32_t)(key >> 32), bits = rank >> 31 ? rank : rank ^ 0x7fffffffu;
    memcpy(value, &bits, sizeof bits);
    *index = (int64_t)(key & 0xffffffffu);
}

/* Worst first, from the end. */
static void store_heap(uint64_t *heap, float *values, int64_t *indices, int64_t k)
{
    for (int64_t j = k - 1; j >= 0; --j) {
        store(heap[0], values + j, indices + j);
        replace_worst(heap, j, heap[j]);
    }
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    uint64_t heap[MAX_K];
    memset(heap, 0xff, (size_t)k * sizeof *heap);
    for (int64_t c = 0; c < n; ++c) {
        uint64_t key = key_at(x, c);
        if (key < heap[0])
            replace_worst(heap, k, key);
    }
    store_heap(heap, values, indices, k);
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
