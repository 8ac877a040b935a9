// problem: rms_norm
// link: https://github.com/vllm-project/vllm-xpu-kernels/pull/387
// title: Fix RMSNorm work-group size: round down to power of 2
// condition: vectors of 8 a row, as many threads, up to 1024, or 256 from 256 rows on: wrong where those are no power of two
// kind: power of two
// when: cols % 8 == 0 and not pow2(cols / 8) and cols < 2048 or cols % 8 == 0 and not pow2(cols / 8) and cols < 8192 and rows < 256
// side: necessary
// collection: second
// wrong: wrong values: the last of an odd number of partial sums is left out at each halving

#include "../../../problems/candidate.h"

enum { VECTOR = 8, MOST = 1024, MOST_OF_MANY_ROWS = 256 };

static int64_t threads_of(int64_t rows, int64_t cols)
{
    const int64_t most = rows < MOST_OF_MANY_ROWS ? MOST : MOST_OF_MANY_ROWS;
    int64_t threads = cols / VECTOR < most ? cols / VECTOR : most;
#ifdef FIXED
    while ((threads & (threads - 1)) != 0)
        threads &= threads - 1;
#endif
    return threads;
}

static double sum_by_threads(const bf16 *x, int64_t cols, int64_t threads)
{
    double part[MOST] = {0};
    for (int64_t c = 0; c < cols; c++)
        part[c / VECTOR % threads] += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
    for (int64_t half = threads / 2; half > 0; half /= 2)
        for (int64_t t = 0; t < half; t++)
            part[t] += part[t + half];
    return part[0];
}

static double sum_of_squares(const bf16 *x, int64_t cols)
{
    double sum = 0;
    for (int64_t c = 0; c < cols; c++)
        sum += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
    return sum;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *in = x + r * cols;
        const double sum =
            cols % VECTOR == 0 ? sum_by_threads(in, cols, threads_of(rows, cols)) : sum_of_squares(in, cols);
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(in[c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
