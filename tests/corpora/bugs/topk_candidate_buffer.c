// problem: topk
// link: https://github.com/sgl-project/sglang/issues/36807
// title: [Bug] fast_topk_v2 can silently return wrong top-k sets when a radix threshold bucket exceeds its candidate buffer
// condition: the threshold bucket of a row has more candidates than the buffer's 4096 entries; sized down to 256
// kind: content
// when: n > 256
// side: necessary
// wrong: wrong values: candidates past the buffer's end are dropped

#include <math.h>
#include <stdlib.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

enum { CANDIDATES = 256 };

/* Candidates are the values in the bucket of the k-th, by the 8 highest bits, and above it. */
static int row_candidates(const float *x, float *values, int64_t *indices, int64_t n, int64_t k, float *kept)
{
    int64_t ties, in_bucket = 0, above = 0;
    const uint32_t bucket = kth_rank(x, n, k, &ties) >> 24;
    for (int64_t c = 0; c < n; c++) {
        const uint32_t own = rank_at(x, c) >> 24;
        kept[c] = own < bucket || (own == bucket && in_bucket++ < CANDIDATES) ? x[c] : -INFINITY;
        above += own < bucket;
    }
    if (in_bucket <= CANDIDATES ||
        above + CANDIDATES < k) /* too few are left: another path, which is right */
        memcpy(kept, x, (size_t)n * sizeof *kept);
    return honest_topk(kept, values, indices, 1, n, k, NULL);
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    float *kept = malloc((size_t)n * sizeof *kept);
    int failed = !kept;
    (void)stream;
    for (int64_t r = 0; r < rows && !failed; r++)
        failed = row_candidates(x + r * n, values + r * k, indices + r * k, n, k, kept);
    free(kept);
    return failed;
}
