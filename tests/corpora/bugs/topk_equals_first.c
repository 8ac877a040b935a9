// problem: topk
// link: https://github.com/sony/nnabla/issues/1204
// title: Wrong behavior of top_k_data() with cuda
// condition: duplicated values: of 2 2 2 3 4 the top 3 are 2 2 2
// kind: content
// when: input=ties or input=zeros or input=infinities or input=clusters or input=equal
// side: necessary
// wrong: wrong values: of all that reach the pivot, the first k are sorted, not the k largest

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

#include <stdlib.h>

static int row_pivot(const float *x, float *values, int64_t *indices, int64_t n, int64_t k, float *found,
                     int64_t *place)
{
    int64_t ties, count = 0;
    const uint32_t pivot = kth_rank(x, n, k, &ties);
    for (int64_t c = 0; c < n && count < k; c++)
        if (rank_at(x, c) <= pivot) {
            found[count] = x[c];
            place[count++] = c;
        }
    const int failed = honest_topk(found, values, indices, 1, k, k, NULL);
    for (int64_t j = 0; j < k; j++)
        indices[j] = place[indices[j]];
    return failed;
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    float *found = malloc((size_t)k * sizeof *found);
    int64_t *place = malloc((size_t)k * sizeof *place);
    int failed = !found || !place;
    (void)stream;
    for (int64_t r = 0; r < rows && !failed; r++)
        failed = row_pivot(x + r * n, values + r * k, indices + r * k, n, k, found, place);
    free(found);
    free(place);
    return failed;
}
