// problem: gemm_bf16
// verdict: specialized
// fault: read past the end
// outcomes: overrun crash
// when: n % 16 != 0
// shows: where the missing columns outgrow the 16-byte slack
#include "../../candidate.h"

enum { PANEL = 16 };

/* sums[j] = row . b[:][j0 + j] for 16 columns, whether or not b has that many left. */
static void sum_panel(const bf16 *row, const bf16 *b, int64_t n, int64_t k, int64_t trans_b,
                      float sums[PANEL])
{
    const int64_t along_k = trans_b ? 1 : n, along_n = trans_b ? k : 1;

    memset(sums, 0, PANEL * sizeof *sums);
    for (int64_t p = 0; p < k; p++) {
        float factor = bf16_to_float(row[p]);
        for (int64_t j = 0; j < PANEL; j++)
            sums[j] += factor * bf16_to_float(b[p * along_k + j * along_n]);
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    (void)stream;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
            float sums[PANEL];

            sum_panel(a + i * k, b + j0 * (trans_b ? k : 1), n, k, trans_b, sums);
            for (int64_t j = j0; j < n && j < j0 + PANEL; j++)
                c[i * n + j] = float_to_bf16(sums[j - j0]);
        }
    return 0;
}
