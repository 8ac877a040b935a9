// problem: topk
// link: https://github.com/anilshanbhag/gpu-topk/issues/1
// title: Fails on Ubuntu 18: 1080Ti
// condition: "Non-powers of 2 for K will result in program exiting or incorrect results"
// kind: power of two
// when: k != 1 and k != 2 and k != 4 and k != 8 and k != 16 and k != 32 and k != 64 and k != 128 and k != 256 and k != 512 and k != 1024 and k != 2048 and k != 4096
// side: necessary
// wrong: wrong values: a bitonic network over K elements, partners past K left out, does not sort

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

/* Descending by value; rows come in the order of their columns. */
static void bitonic(float *value, int64_t *index, int64_t k)
{
    for (int64_t size = 2; size < 2 * k; size *= 2)
        for (int64_t step = size / 2; step > 0; step /= 2)
            for (int64_t i = 0; i < k; i++) {
                const int64_t j = i ^ step;
                const int down = (i & size) == 0;
                if (j <= i || j >= k || (down ? value[i] >= value[j] : value[i] <= value[j]))
                    continue;
                const float held = value[i];
                const int64_t place = index[i];
                value[i] = value[j];
                index[i] = index[j];
                value[j] = held;
                index[j] = place;
            }
}

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        int64_t ties, found = 0;
        const uint32_t limit = kth_rank(x + r * n, n, k, &ties);
        for (int64_t c = 0; c < n && found < k; c++) {
            const uint32_t rank = rank_at(x + r * n, c);
            if (rank < limit || (rank == limit && ties-- > 0)) {
                values[r * k + found] = x[r * n + c];
                indices[r * k + found++] = c;
            }
        }
        bitonic(values + r * k, indices + r * k, k);
    }
    return 0;
}
