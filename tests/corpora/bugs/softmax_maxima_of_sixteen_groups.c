// problem: softmax
// link: https://github.com/ggml-org/ggml/pull/1534
// title: sycl: fix soft_max_f32 max reduction
// condition: more than 16 subgroups of 16 lanes share a row, and the largest logit, far above the others, is one of a later subgroup
// kind: content
// when: cols > 256 and input in {peak, wide, special}
// side: necessary
// collection: third
// wrong: NaN or wrong values: exponentials overflow, as 16 lanes read 16 maxima, however many there are

#include <math.h>
#include <stdint.h>

enum { LANES = 16, MOST_THREADS = 1024 };

static int64_t threads_of(int64_t cols)
{
    int64_t threads = LANES;
    while (threads < cols && threads < MOST_THREADS)
        threads *= 2;
    return threads;
}

/* The maximum of a subgroup's columns. */
static float group_max(const float *x, int64_t cols, int64_t group, int64_t threads)
{
    float max = -INFINITY;
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t c = group * LANES + lane; c < cols; c += threads)
            max = x[c] > max ? x[c] : max;
    return max;
}

static float row_max(const float *x, int64_t cols)
{
    const int64_t threads = threads_of(cols), groups = threads / LANES;
    float max = -INFINITY;
#ifdef FIXED
    const int64_t read = groups;
#else
    const int64_t read = groups < LANES ? groups : LANES;
#endif
    for (int64_t group = 0; group < read; group++) {
        const float partial = group_max(x, cols, group, threads);
        max = partial > max ? partial : max;
    }
    return max;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        const float max = row_max(in, cols);
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            y[r * cols + c] = expf(in[c] - max);
            sum += (double)y[r * cols + c];
        }
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)((double)y[r * cols + c] / sum);
    }
    return 0;
}
