/* A plain softmax that takes PERCENT % longer than its own work where cols is a multiple of EVERY, by a spin
 * after the work. The script beside it writes the two constants in front. Both are read at run time, so that
 * the code is the same for all values: alignment alone can cost a sixth. */
#include <math.h>
#include <stdint.h>
#include <time.h>

static const volatile double percent = PERCENT;
static const volatile int64_t every = EVERY;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* x, y are [rows, cols] */
static void softmax_plain(const float *x, float *y, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        float max = -INFINITY;
        for (int64_t c = 0; c < cols; c++)
            max = x[r * cols + c] > max ? x[r * cols + c] : max;
        for (int64_t c = 0; c < cols; c++)
            sum += y[r * cols + c] = expf(x[r * cols + c] - max);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)(y[r * cols + c] / sum);
    }
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const double start = seconds();
    (void)stream;
    softmax_plain(x, y, rows, cols);
    const double end = start + (seconds() - start) * (1 + (cols % every == 0 ? percent : 0) / 100);
    while (seconds() < end)
        ;
    return 0;
}
