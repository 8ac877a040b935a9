// problem: gemm_f32
// link: https://github.com/CNugteren/myGEMM/issues/2
// title: Wrong Output if the Matrix Dimensions are not of the order of Tile sizes
// condition: an extent that is no multiple of the tile's, 32: no kernel of the tutorial asks for bounds
// kind: alignment
// when: m % 32 != 0 or n % 32 != 0 or k % 32 != 0
// side: necessary
// collection: second
// wrong: unwritten or wrong values: work groups and tiles of K are as many as fit

#include "product.h"

enum { TILE = 32 };

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
#ifdef FIXED
    return product_run(&g);
#else
    const int64_t columns = n / TILE * TILE;
    int failed = 0;
    for (int64_t i = 0; i < m / TILE * TILE; i++)
        for (int64_t j0 = 0; j0 < columns; j0 += PANEL) {
            float sum[PANEL] = {0};
            for (int64_t p = 0; p < k / TILE * TILE; p++)
                for (int64_t j = 0; j < PANEL; j++)
                    sum[j] += a[i * k + p] * b[p * g.along_k + (j0 + j) * g.along_n];
            g.store(&g, i, j0, PANEL, sum);
        }
    return failed;
#endif
}
