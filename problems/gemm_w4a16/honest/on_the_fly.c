// problem: gemm_w4a16
// verdict: general
// construction: rows of w dequantized as they are met, 256 columns wide, added to 8 rows of sums
#include "../../candidate.h"

enum { WIDE = 256, ROWS = 8 };

/* Scale and zero point of one group in up to 256 columns. */
struct group_row {
    float scale[WIDE], zero[WIDE];
};

static void read_group(struct group_row *out, const bf16 *scales, const bf16 *zeros,
                       int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) {
        out->scale[j] = bf16_to_float(scales[j]);
        out->zero[j] = bf16_to_float(zeros[j]);
    }
}

/* low, high = the two rows of w that one row of w_q holds */
static void dequantize(const uint8_t *bytes, const struct group_row *row, int64_t columns,
                       float *low, float *high)
{
#pragma omp simd
    for (int64_t j = 0; j < columns; j++) {
        low[j] = ((float)(bytes[j] & 15) - row->zero[j]) * row->scale[j];
        high[j] = ((float)(bytes[j] >> 4) - row->zero[j]) * row->scale[j];
    }
}

/* sum[j] += a * low[j] + b * high[j] */
static void add_rows(float *sum, float a, const float *low, float b, const float *high,
                     int64_t columns)
{
#pragma omp simd
    for (int64_t j = 0; j < columns; j++)
        sum[j] = sum[j] + a * low[j] + b * high[j];
}

/* `rows` <= 8 rows by `columns` <= 256 columns of y; all pointers at the block's first column. */
static void block(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
                  int64_t rows, int64_t columns, int64_t n, int64_t k, int64_t group)
{
    float sum[ROWS][WIDE] = {{0}}, low[WIDE], high[WIDE];
    struct group_row row;

    for (int64_t p = 0; p < k; p += 2) {
        if (p % group == 0)
            read_group(&row, scales + p / group * n, zeros + p / group * n, columns);
        dequantize(w_q + p / 2 * n, &row, columns, low, high);
        for (int64_t i = 0; i < rows; i++)
            add_rows(sum[i], bf16_to_float(x[i * k + p]), low, bf16_to_float(x[i * k + p + 1]),
                     high, columns);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            y[i * n + j] = float_to_bf16(sum[i][j]);
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    (void)stream;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t j0 = 0; j0 < n; j0 += WIDE)
        for (int64_t i0 = 0; i0 < m; i0 += ROWS)
            block(x + i0 * k, w_q + j0, scales + j0, zeros + j0, y + i0 * n + j0,
                  m - i0 < ROWS ? m - i0 : ROWS, n - j0 < WIDE ? n - j0 : WIDE, n, k, group);
    return 0;
}
