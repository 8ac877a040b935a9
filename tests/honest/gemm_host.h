/* A matrix product on the host, column by column of b. */
#ifndef UNSEEN_TEST_HONEST_GEMM_HOST_H
#define UNSEEN_TEST_HONEST_GEMM_HOST_H

#include "honest.h"

#include "gemm_switches.h"

/* c[:, j]; `column` has room for column j of b. */
static void gemm_column(const gemm_element *a, const gemm_element *b, gemm_element *c,
                        const int64_t extent[4], int64_t j, const struct gemm_way *w, gemm_element *column)
{
    const int64_t m = extent[0], n = extent[1], k = extent[2];
    const struct gemm_line v = {column, 1};
    for (int64_t l = 0; l < k; l++)
        column[l] = b[extent[3] ? j * k + l : l * n + j];
    for (int64_t i = 0; i < m; i++) {
        const struct gemm_line u = {a + i * k, 1};
        const struct gemm_place at = {i, j, m, n};
        const double value = gemm_result(&u, &v, k, w, &at);
        c[i * n + j] = gemm_round(value, w);
        if (honest_unrounded)
            honest_unrounded[i * n + j] = value;
    }
}

static int gemm_host(const gemm_element *a, const gemm_element *b, gemm_element *c, int64_t m, int64_t n,
                     int64_t k, int64_t trans_b)
{
    const int64_t extent[4] = {m, n, k, trans_b};
    const struct gemm_way w = gemm_way();
    int failed = 0;
#pragma omp parallel
    {
        gemm_element *column = malloc((size_t)k * sizeof *column);
#pragma omp for schedule(dynamic)
        for (int64_t j = 0; j < n; j++)
            if (column)
                gemm_column(a, b, c, extent, j, &w, column);
#pragma omp critical(gemm_failed)
        failed |= !column;
        free(column);
    }
    return failed;
}

#endif
