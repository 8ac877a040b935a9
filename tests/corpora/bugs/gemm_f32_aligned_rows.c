// problem: gemm_f32
// link: https://github.com/NVIDIA/cutlass/issues/2348
// title: [QST] Sm80 TF32/BF16/FP16 grouped gemm encounter illegal memory access
// condition: misaligned addresses with shapes such as (33, 1024), none with regular ones (32, 64, 128)
// kind: alignment
// when: m % 4 != 0 and n > 1
// wrong: crash: rows of a column-major copy of a, m long, are read four at a time as if all of them were aligned

#include "product.h"

typedef float quad __attribute__((vector_size(16)));

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    float *columns = aligned_alloc(64, (size_t)(m * n + 64) / 16 * 16 * sizeof *columns);
    int failed = !columns;
    (void)stream;
    if (!failed) {
        g.c = columns; /* [m, n] here, then [n, m] */
        failed = product_run(&g);
        float *turned = aligned_alloc(64, (size_t)(m * n + 64) / 16 * 16 * sizeof *turned);
        failed |= !turned;
        for (int64_t i = 0; !failed && i < m * n; i++)
            turned[i % n * m + i / n] = columns[i];
        for (int64_t j = 0; !failed && j < n; j++)
            for (int64_t i = 0; i < m; i += 4) {
                volatile quad rows = *(const volatile quad *)(turned + j * m + i);
                for (int64_t l = 0; l < 4 && i + l < m; l++)
                    c[(i + l) * n + j] = rows[l];
            }
        free(turned);
    }
    free(columns);
    return failed;
}
