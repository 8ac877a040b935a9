// problem: topk
// link: https://github.com/NVIDIA/cudnn-frontend/pull/445
// title: DSA indexer_top_k: exclude OOB tile-fill lanes from radix selection
// condition: a row is no whole number of tiles, 64 here, and has fewer than k values above -inf: the last tile is filled up with -inf, and these count
// kind: content
// when: n % 64 != 0 and input=infinities
// side: necessary
// collection: third
// wrong: indices behind the row's end

#include <math.h>
#include <stdlib.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { TILE = 64 };

/* `filled` has the row and fills up its last tile. Candidates come in the order of tiles, the last one first. */
static void select_row(const float *filled, int64_t width, int64_t n, float *values, int64_t *indices,
                       int64_t k)
{
    uint64_t key[MAX_K], spare[MAX_K];
    int64_t ties, found = 0;
#ifdef FIXED
    width = n;
#else
    (void)n;
#endif
    const uint32_t limit = kth_rank(filled, width, k, &ties);
    for (int64_t first = (width - 1) / TILE * TILE; first >= 0; first -= TILE)
        for (int64_t c = first; c < first + TILE && c < width && found < k; c++) {
            const uint32_t rank = rank_at(filled, c);
            if (rank < limit || (rank == limit && ties-- > 0))
                key[found++] = (uint64_t)rank << 32 | (uint64_t)c;
        }
    sort_keys(key, spare, k);
    for (int64_t j = 0; j < k; j++) {
        const uint32_t bits = rank_of((uint32_t)(key[j] >> 32));
        memcpy(values + j, &bits, sizeof bits);
        indices[j] = (int64_t)(key[j] & 0xffffffffu);
    }
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const int64_t width = (n + TILE - 1) / TILE * TILE;
    int failed = 0;
    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        float *filled = malloc((size_t)width * sizeof *filled);
        failed |= !filled;
        for (int64_t c = n; filled && c < width; c++)
            filled[c] = -INFINITY;
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r++)
            if (filled) {
                memcpy(filled, x + r * n, (size_t)n * sizeof *x);
                select_row(filled, width, n, values + r * k, indices + r * k, k);
            }
        free(filled);
    }
    return failed;
}
