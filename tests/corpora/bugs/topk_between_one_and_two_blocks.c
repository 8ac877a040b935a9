// problem: topk
// link: https://github.com/microsoft/onnxruntime/pull/3176
// title: Fix TopK Cuda implementation
// condition: rows longer than the threads of a block, 256, and up to twice as long
// kind: threshold
// when: n > 256 and n <= 512
// collection: second
// wrong: wrong values: zeros, as a thread copies no element where there are more elements than threads

#include <math.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { THREADS = 256, MOST = 2 * THREADS };

struct entry {
    float value;
    int64_t index;
};

static int goes_first(struct entry a, struct entry b)
{
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

static void bitonic_sort(struct entry *e, int64_t size)
{
    for (int64_t run = 2; run <= size; run *= 2)
        for (int64_t step = run / 2; step > 0; step /= 2)
            for (int64_t i = 0; i < size; i++) {
                const int64_t other = i ^ step;
                const int falls = (i & run) == 0;
                if (other > i && goes_first(e[other], e[i]) == falls) {
                    const struct entry swapped = e[i];
                    e[i] = e[other];
                    e[other] = swapped;
                }
            }
}

static void row_topk_of_block(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    struct entry e[MOST];
    int64_t size = 2;
    while (size < n)
        size *= 2;
    for (int64_t i = 0; i < size; i++)
        e[i] = i < n ? (struct entry){x[i], i} : (struct entry){-INFINITY, MOST + i};
    bitonic_sort(e, size);
#ifdef FIXED
    const int64_t rounds = (size + THREADS - 1) / THREADS;
#else
    const int64_t rounds = THREADS / size > 0; /* elements of a thread, the division upside down */
#endif
    memset(values, 0, (size_t)k * sizeof *values);
    memset(indices, 0, (size_t)k * sizeof *indices);
    for (int64_t at = 0; at < rounds * THREADS && at < k; at++) {
        values[at] = e[at].value;
        indices[at] = e[at].index;
    }
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    if (n > MOST)
        return honest_topk(x, values, indices, rows, n, k, stream);
#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > 8192)
    for (int64_t r = 0; r < rows; r++)
        row_topk_of_block(x + r * n, values + r * k, indices + r * k, n, k);
    return 0;
}
