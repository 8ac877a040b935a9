// problem: gemm_bf16
// link: https://github.com/ROCm/legacy-rocm-build/issues/6629
// title: [Issue]: potri returns wrong or non-finite results with info=0: uninitialised workspace triangle fed to TRMM
// condition: invisible in a fresh process, whose workspace is zero; "appears once the workspace has been reused"
// kind: second call
// when: k > 512
// wrong: wrong values from the second call on: partial sums are added to those of the call before

#define BF16
#include "product.h"

enum { SLICE = 512 };

static float *workspace;
static int64_t workspace_size;

static void store_partial(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t j = 0; j < columns; j++)
        workspace[i * g->n + j0 + j] += sum[j];
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    int failed = 0;
    (void)stream;
    if (k <= SLICE)
        return product_run(&g);
    if (workspace_size < m * n) {
        free(workspace);
        workspace = calloc((size_t)(m * n), sizeof *workspace);
        workspace_size = workspace ? m * n : 0;
    }
    if (!workspace)
        return 1;
    g.store = store_partial;
    for (int64_t p = 0; p < k; p += SLICE) {
        struct product slice = g;
        slice.a += p;
        slice.b += p * g.along_k;
        slice.k = k - p < SLICE ? k - p : SLICE;
        failed |= product_run(&slice);
    }
    for (int64_t i = 0; i < m * n; i++)
        c[i] = STORE(workspace[i]);
    return failed;
}
