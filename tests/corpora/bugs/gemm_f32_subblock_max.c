// problem: gemm_f32
// link: https://github.com/Maratyszcza/NNPACK/issues/44
// title: There are some wrongs with nnp_fully_connected_output
// condition: wrong if the batch size is not 4 n: outer_subblock_max stands where outer_subblock_size should
// kind: alignment
// when: m % 4 != 0 and k > 1
// wrong: wrong values: the last rows are packed as many apart as they are, and read four apart

#include "product.h"

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t size = m % ROWS, first = m - size;
    (void)stream;
    int failed = first > 0 ? product_rows(&g, 0, first) : 0;
    float *packed = calloc((size_t)(ROWS * k), sizeof *packed),
          *rows = calloc((size_t)(ROWS * k), sizeof *rows);
    failed |= !packed || !rows;
    if (size > 0 && !failed) {
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < size; i++)
                packed[p * size + i] = a[(first + i) * k + p];
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < size; i++)
                rows[i * k + p] = packed[p * ROWS + i];
        g.a = rows;
        g.c = c + first * n;
        failed |= product_rows(&g, 0, size);
    }
    free(packed);
    free(rows);
    return failed;
}
