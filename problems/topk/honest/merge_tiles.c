// problem: topk
// verdict: general
// construction: tiles of 512 columns sorted by insertion and merges, and merged one after another
//   into a list that is cut at k

#include <stdint.h>
#include <string.h>

enum { TILE = 512, RUN = 16, MAX_K = 4096 };

struct pair {
    float value;
    int32_t column;
};

/* Stable: of equal values the one that came first stays first. */
static void insertion_sort(struct pair *pair, int count)
{
    for (int i = 1; i < count; ++i) {
        struct pair one = pair[i];
        int at = i;
        for (; at > 0 && pair[at - 1].value < one.value; --at)
            pair[at] = pair[at - 1];
        pair[at] = one;
    }
}

/* The first `most` of both lists in order; returns how many there are. */
static int64_t merge(const struct pair *a, int64_t as, const struct pair *b, int64_t bs,
                     struct pair *out, int64_t most)
{
    int64_t i = 0, j = 0, count = as + bs < most ? as + bs : most;
    for (int64_t o = 0; o < count; ++o) {
        int from_a = j == bs || (i < as && !(a[i].value < b[j].value));
        out[o] = from_a ? a[i++] : b[j++];
    }
    return count;
}

static void sort_tile(struct pair *pair, int count)
{
    struct pair spare[TILE];
    for (int at = 0; at < count; at += RUN)
        insertion_sort(pair + at, count - at < RUN ? count - at : RUN);
    for (int run = RUN; run < count; run *= 2) {
        for (int at = 0; at < count; at += 2 * run) {
            int middle = at + run < count ? at + run : count;
            int end = at + 2 * run < count ? at + 2 * run : count;
            merge(pair + at, middle - at, pair + middle, end - middle, spare + at, TILE);
        }
        memcpy(pair, spare, (size_t)count * sizeof *pair);
    }
}

/* The columns of one tile that may be among the k: none that is not above the k-th so far. */
static int load_tile(struct pair *tile, const float *x, int64_t from, int64_t to, int full,
                     float least)
{
    int count = 0;
    for (int64_t c = from; c < to; ++c)
        if (!full || x[c] > least)
            tile[count++] = (struct pair){x[c], (int32_t)c};
    return count;
}

static void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int64_t k)
{
    struct pair tile[TILE], list[2][MAX_K];
    int64_t held = 0;
    int now = 0;
    for (int64_t at = 0; at < n; at += TILE) {
        int count = load_tile(tile, x, at, at + TILE < n ? at + TILE : n, held == k,
                              held == k ? list[now][k - 1].value : 0.0f);
        if (count == 0)
            continue;
        sort_tile(tile, count);
        held = merge(list[now], held, tile, count, list[!now], k);
        now = !now;
    }
    for (int64_t j = 0; j < k; ++j) {
        values[j] = list[now][j].value;
        indices[j] = list[now][j].column;
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
