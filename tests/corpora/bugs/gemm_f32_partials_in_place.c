// problem: gemm_f32
// link: https://github.com/NVIDIA/cutlass/issues/3538
// title: GemmWithKReduction parallel split-K: workspace initialization is skipped, partials land in the user output buffer
// condition: with more than one slice of K the partial products are written through D, past its end
// kind: threshold
// when: k > 1024
// wrong: out of bounds: slice s is written at D + s m n

#include "product.h"

enum { SLICE = 1024 };

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    int failed = 0;
    (void)stream;
    for (int64_t slice = 0; slice * SLICE < k; slice++) {
        struct product g = product_of(a, b, c, m, n, k, trans_b);
        g.a += slice * SLICE;
        g.b += slice * SLICE * g.along_k;
        g.c += slice * m * n; /* the fault: c is no workspace */
        g.k = k - slice * SLICE < SLICE ? k - slice * SLICE : SLICE;
        failed |= product_run(&g);
    }
    for (int64_t slice = 1; slice * SLICE < k; slice++)
        for (int64_t i = 0; i < m * n; i++)
            c[i] += c[slice * m * n + i];
    return failed;
}
