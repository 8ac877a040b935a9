// problem: gemm_f32
// verdict: general
// construction: slabs of 256 k outermost, both operands packed by slab, 6 x 16 register tiles, fp32
// sums in memory
#include "../../candidate.h"
#include <stdlib.h>

enum { SLAB = 256, ROWS = 6, PANEL = 16 };

typedef float vec __attribute__((vector_size(PANEL * sizeof(float))));

/* Row blocks of 6 and column panels of 16, both a step of k after the other, zero past the edges.
 */
typedef struct {
    float (*a)[SLAB][ROWS]; /* [ceil(m / 6)][SLAB][6] */
    vec (*b)[SLAB];         /* [ceil(n / 16)][SLAB] of 16 */
} slab;

static void pack_a(const float *a, slab *s, int64_t m, int64_t k, int64_t k0, int64_t depth)
{
#pragma omp parallel for
    for (int64_t block = 0; block < (m + ROWS - 1) / ROWS; block++)
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t p = 0; p < depth; p++) {
                int64_t row = block * ROWS + i;
                s->a[block][p][i] = row < m ? a[row * k + k0 + p] : 0.0f;
            }
}

static void pack_b(const float *b, slab *s, int64_t n, int64_t k, int64_t trans_b, int64_t k0,
                   int64_t depth)
{
#pragma omp parallel for
    for (int64_t panel = 0; panel < (n + PANEL - 1) / PANEL; panel++)
        for (int64_t p = 0; p < depth; p++)
            for (int64_t j = 0; j < PANEL; j++) {
                int64_t col = panel * PANEL + j;
                int64_t at = trans_b ? col * k + k0 + p : (k0 + p) * n + col;
                s->b[panel][p][j] = col < n ? b[at] : 0.0f;
            }
}

/* sum[i][:] += the slab's terms, in registers. */
static void multiply(float (*a)[ROWS], const vec *b, int64_t depth, vec sum[ROWS])
{
    vec s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3], s4 = sum[4], s5 = sum[5];

    for (int64_t p = 0; p < depth; p++) {
        s0 += a[p][0] * b[p];
        s1 += a[p][1] * b[p];
        s2 += a[p][2] * b[p];
        s3 += a[p][3] * b[p];
        s4 += a[p][4] * b[p];
        s5 += a[p][5] * b[p];
    }
    memcpy(sum, (vec[ROWS]){s0, s1, s2, s3, s4, s5}, ROWS * sizeof *sum);
}

/* total [m, width] += the slab, width = n rounded up to whole panels. */
static void multiply_slab(const slab *s, float *total, int64_t m, int64_t width, int64_t depth)
{
#pragma omp parallel for collapse(2)
    for (int64_t panel = 0; panel < width / PANEL; panel++)
        for (int64_t block = 0; block < (m + ROWS - 1) / ROWS; block++) {
            vec sum[ROWS] = {0};
            float *corner = total + block * ROWS * width + panel * PANEL;
            int64_t rows = m - block * ROWS < ROWS ? m - block * ROWS : ROWS;

            for (int64_t i = 0; i < rows; i++)
                memcpy(&sum[i], corner + i * width, sizeof *sum);
            multiply(s->a[block], s->b[panel], depth, sum);
            for (int64_t i = 0; i < rows; i++)
                memcpy(corner + i * width, &sum[i], sizeof *sum);
        }
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    int64_t blocks = (m + ROWS - 1) / ROWS, panels = (n + PANEL - 1) / PANEL;
    int64_t width = panels * PANEL;
    slab s = {malloc((size_t)blocks * sizeof *s.a),
              aligned_alloc(64, (size_t)panels * sizeof *s.b)};
    float *total = calloc((size_t)(m * width), sizeof *total);
    int failed = !s.a || !s.b || !total;

    (void)stream;
    for (int64_t k0 = 0; k0 < k && !failed; k0 += SLAB) {
        int64_t depth = k - k0 < SLAB ? k - k0 : SLAB;

        pack_a(a, &s, m, k, k0, depth);
        pack_b(b, &s, n, k, trans_b, k0, depth);
        multiply_slab(&s, total, m, width, depth);
    }
    for (int64_t i = 0; i < m && !failed; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = total[i * width + j];
    free(s.a);
    free(s.b);
    free(total);
    return failed;
}
