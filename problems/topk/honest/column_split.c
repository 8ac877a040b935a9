// problem: topk
// verdict: general
// construction: rows one by one; each thread finds the best of its columns with a buffer that is
//   sorted when it is full, which raises a threshold; then all threads' lists are merged

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_K = 4096, BUFFER = 2 * MAX_K, WAYS = 8 };

struct list {
    int64_t count;
    uint64_t key[BUFFER];
};

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
static inline uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* rank << 32 | column: the better the key, the smaller. */
static inline uint64_t key_at(const float *x, int64_t c)
{
    uint32_t bits;
    memcpy(&bits, x + c, sizeof bits);
    return (uint64_t)rank_of(bits) << 32 | (uint64_t)c;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void sort_list(struct list *list, int64_t k)
{
    qsort(list->key, (size_t)list->count, sizeof *list->key, compare);
    list->count = list->count < k ? list->count : k;
}

/* list: the k best of the columns from..to-1, sorted. 2 k keys are sorted at a time, which makes
 * room for k more. */
static void best_of(struct list *list, const float *x, int64_t from, int64_t to, int64_t k)
{
    uint64_t limit = ~(uint64_t)0;
    list->count = 0;
    for (int64_t c = from; c < to; ++c) {
        uint64_t key = key_at(x, c);
        if (key > limit)
            continue;
        list->key[list->count++] = key;
        if (list->count == 2 * k) {
            sort_list(list, k);
            limit = list->key[k - 1];
        }
    }
    sort_list(list, k);
}

static void merge_lists(const struct list *list, int ways, float *values, int64_t *indices,
                        int64_t k)
{
    int64_t next[WAYS] = {0};
    for (int64_t j = 0; j < k; ++j) {
        int best = -1;
        for (int w = 0; w < ways; ++w)
            if (next[w] < list[w].count &&
                (best < 0 || list[w].key[next[w]] < list[best].key[next[best]]))
                best = w;
        uint64_t key = list[best].key[next[best]++];
        uint32_t bits = rank_of((uint32_t)(key >> 32));
        memcpy(values + j, &bits, sizeof bits);
        indices[j] = (int64_t)(key & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k,
         void *stream)
{
    (void)stream;
    struct list *list = malloc(WAYS * sizeof *list);
    if (!list)
        return 1;
    for (int64_t r = 0; r < rows; ++r) {
        int ways = 1;
#pragma omp parallel num_threads(WAYS) if (n >= 16384)
        {
            int threads = omp_get_num_threads(), w = omp_get_thread_num();
            best_of(list + w, x + r * n, n * w / threads, n * (w + 1) / threads, k);
#pragma omp single
            ways = threads;
        }
        merge_lists(list, ways, values + r * k, indices + r * k, k);
    }
    free(list);
    return 0;
}
