// problem: gemm_f32
// link: https://github.com/ggml-org/llama.cpp/pull/10561
// title: ggml : fix row condition for i8mm kernels
// condition: all rows are divisible by 2, as the kernel needs, but the rows of one thread are odd
// kind: comparison
// when: m % 2 == 0 and (m + 3) / 4 % 2 != 0
// wrong: unwritten: each thread drops its last row; (m + 3) / 4 rows a thread

#include "product.h"

enum { THREADS = 4 };

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t share = (m + THREADS - 1) / THREADS;
    int failed = 0;
    (void)stream;
    if (m % 2 != 0) /* the kernel for pairs of rows is not chosen */
        return product_run(&g);
    for (int64_t first = 0; first < m; first += share) {
        const int64_t last = first + share < m ? first + share : m;
        if (last - first > 1)
            failed |= product_rows(&g, first, first + (last - first) / 2 * 2);
    }
    return failed;
}
