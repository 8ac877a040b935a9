// problem: softmax
// fate: specialized
// fault: read past the end
// outcomes: crash overrun
// when: cols % 1024 != 0
// shows: cols % 1024 != 0

#include <math.h>
#include <stdint.h>
#include <string.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* One tile of 1024 columns, the columns past the row replaced by -inf (exp gives 0).
 * planted: the whole tile is copied first, which for the last row leaves the tensor */
static void load_tile(float *tile, const float *x, int64_t left)
{
    memcpy(tile, x, 1024 * sizeof *tile);
    for (int64_t c = left; c < 1024; ++c)
        tile[c] = -INFINITY;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float tile[1024], m = -INFINITY;
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        load_tile(tile, x + at, cols - at);
        m = fmaxf(m, row_max(tile, 1024));
    }
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        load_tile(tile, x + at, cols - at);
        for (int c = 0; c < 1024; ++c)
            sum += expf(tile[c] - m);
        total += sum;
    }
    for (int64_t c = 0; c < cols; ++c)
        y[c] = expf(x[c] - m) / (float)total;
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
