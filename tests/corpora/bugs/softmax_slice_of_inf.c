// problem: softmax
// link: https://github.com/flashinfer-ai/flashinfer/pull/1178
// title: bugfix: softmax NaN results caused by large -inf masks
// condition: all results of a row are NaN when one thread's slice of it is -inf throughout
// kind: content
// when: input=special
// side: necessary
// wrong: NaN: exp(-inf - -inf) of the slice's own maximum

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { SLICE = 8 };

/* The sum of a row's exponentials, from slices with a maximum of their own. */
static double sum_slices(const float *x, int64_t cols, float max)
{
    double sum = 0;
    for (int64_t at = 0; at < cols; at += SLICE) {
        const int64_t count = cols - at < SLICE ? cols - at : SLICE;
        const float own = row_max(x + at, count);
        float part = 0;
        for (int64_t c = at; c < at + count; c++)
            part += expf(x[c] - own);
        sum += part * expf(own - max);
    }
    return sum;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols, max = row_max(in, cols);
        const double sum = sum_slices(in, cols, max);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)(expf(in[c] - max) / sum);
    }
    return 0;
}
