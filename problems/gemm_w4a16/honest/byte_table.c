// problem: gemm_w4a16
// verdict: general
// construction: x0 * low + x1 * high tabulated for all 256 bytes and 16 rows of x, then looked up
#include "../../candidate.h"

enum { ROWS = 16, WIDE = 512 };

typedef float vec __attribute__((vector_size(ROWS * sizeof(float)))); /* a value per row of x */

struct shape {
    int64_t n, k, group, rows, columns; /* rows <= 16 and columns <= 512 of this block */
};

/* x[i][p] of the block's rows, zero past the last */
static vec column_of(const bf16 *x, int64_t p, const struct shape *s)
{
    vec out = {0};

    for (int64_t i = 0; i < s->rows; i++)
        out[i] = bf16_to_float(x[i * s->k + p]);
    return out;
}

/* table[byte] = x0 * (low nibble) + x1 * (high nibble) */
static void fill_table(vec x0, vec x1, vec table[256])
{
    for (int high = 0; high < 16; high++)
        for (int low = 0; low < 16; low++)
            table[16 * high + low] = x0 * (float)low + x1 * (float)high;
}

/* sum[j] = sum_p x[p] q[p][j] over one group; returns sum_p x[p] */
static vec sum_group(const bf16 *x, const uint8_t *w_q, int64_t first, int64_t last,
                     const struct shape *s, vec *sum)
{
    vec table[256], plain = {0};

    memset(sum, 0, (size_t)s->columns * sizeof *sum);
    for (int64_t p = first; p < last; p += 2) {
        vec x0 = column_of(x, p, s), x1 = column_of(x, p + 1, s);
        const uint8_t *bytes = w_q + p / 2 * s->n;

        plain += x0 + x1;
        fill_table(x0, x1, table);
        for (int64_t j = 0; j < s->columns; j++)
            sum[j] += table[bytes[j]];
    }
    return plain;
}

/* One block of y; all pointers at its first row or column. */
static void block(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
                  const struct shape *s)
{
    vec total[WIDE] = {{0}}, sum[WIDE];

    for (int64_t first = 0; first < s->k; first += s->group) {
        int64_t last = s->k - first < s->group ? s->k : first + s->group;
        vec plain = sum_group(x, w_q, first, last, s, sum);

        for (int64_t j = 0; j < s->columns; j++) {
            int64_t at = first / s->group * s->n + j;
            total[j] += bf16_to_float(scales[at]) * (sum[j] - bf16_to_float(zeros[at]) * plain);
        }
    }
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->columns; j++)
            y[i * s->n + j] = float_to_bf16(total[j][i]);
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    (void)stream;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t j0 = 0; j0 < n; j0 += WIDE)
        for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
            struct shape s = {n, k, group, m - i0 < ROWS ? m - i0 : ROWS,
                              n - j0 < WIDE ? n - j0 : WIDE};
            block(x + i0 * k, w_q + j0, scales + j0, zeros + j0, y + i0 * n + j0, &s);
        }
    return 0;
}
