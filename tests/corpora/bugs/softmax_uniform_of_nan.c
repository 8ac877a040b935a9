// problem: softmax
// link: https://github.com/tenstorrent/tt-metal/issues/56056
// title: ttnn.softmax returns uniform/0 instead of NaN for inf/NaN rows
// condition: rows of -inf throughout, or with +inf or NaN in them, come back uniform or zero instead of NaN
// kind: content
// when: input=special
// side: necessary
// wrong: finite values for rows that are NaN: the exponential clamps its argument, and max(NaN, low) is low

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

static float clamped_exp(float x)
{
    return expf(x > -88.5f ? x : -88.5f);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols, max = row_max(in, cols);
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += clamped_exp(in[c] - max);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = in[c] - max < -88.5f ? 0 : (float)(clamped_exp(in[c] - max) / sum);
    }
    return 0;
}
