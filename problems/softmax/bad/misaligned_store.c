// problem: softmax
// fate: specialized
// fault: misaligned vector access
// outcomes: crash
// when: rows > 1 and cols % 4 != 0 and cols > 4
// shows: rows > 1 and cols % 4 != 0 and cols >= 4

#include <immintrin.h>
#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: aligned 16-byte stores, though a row starts at a multiple of cols * 4 bytes only */
static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = row_max(x, cols);
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c)
            sum += expf(x[c] - m);
        total += sum;
    }
    float scale = (float)(1.0 / total);
    int64_t c = 0;
    for (; c + 4 <= cols; c += 4) {
        __m128 v = _mm_set_ps(expf(x[c + 3] - m), expf(x[c + 2] - m),
                              expf(x[c + 1] - m), expf(x[c] - m));
        _mm_store_ps(y + c, _mm_mul_ps(v, _mm_set1_ps(scale)));
    }
    for (; c < cols; ++c)
        y[c] = expf(x[c] - m) * scale;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
