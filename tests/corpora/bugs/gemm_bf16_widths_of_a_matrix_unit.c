// problem: gemm_bf16
// link: https://github.com/mitsuba-renderer/drjit-core/pull/200
// title: Fix Metal cooperative-vector matvec crash for unsupported output dimensions
// condition: k is a multiple of 16, and the outputs are not 1, 2, 4 or a multiple of 8; 2 outputs are all zero
// kind: equality
// when: k % 16 == 0 and n % 8 != 0 and n != 1 and n != 4
// collection: third
// wrong: refused: the fast path looks at the depth alone, and its shader does not compile; zeros for 2 columns

#define BF16
#include "product.h"

enum { DEPTH = 16, ABORTED = 6 };

static bool has_width(int64_t n)
{
    return n == 1 || n == 2 || n == 4 || n % 8 == 0;
}

static bool is_fast(int64_t n, int64_t k)
{
#ifdef FIXED
    return k % DEPTH == 0 && has_width(n) && n != 2;
#else
    (void)n;
    return k % DEPTH == 0;
#endif
}

static void store_zero(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    const float zero[PANEL] = {0};
    (void)sum;
    product_store(g, i, j0, columns, zero);
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (is_fast(n, k) && !has_width(n))
        return ABORTED;
    if (is_fast(n, k) && n == 2)
        g.store = store_zero;
    return product_run(&g);
}
