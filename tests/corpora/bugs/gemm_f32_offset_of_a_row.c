// problem: gemm_f32
// link: https://github.com/ml-explore/mlx/issues/3822
// title: [BUG]
// condition: (rows - 1) times columns of the left operand is 2^31 and more; sized down to 2^20
// kind: overflow
// when: (m - 1) * k >= 1048576
// collection: second
// wrong: wrong values: zeros, from the first row on that begins there

#include "product.h"

#ifdef FIXED
static const int64_t most = INT64_MAX;
#else
static const int64_t most = 1 << 20;
#endif

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t reached =
        (most - 1) / k + 1 < m ? (most - 1) / k + 1 : m; /* rows whose offset has its sign */
    (void)stream;
    memset(c + reached * n, 0, (size_t)((m - reached) * n) * sizeof *c);
    return product_rows(&g, 0, reached);
}
