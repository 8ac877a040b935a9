// problem: softmax
// link: https://github.com/m0at/rvllm/pull/1
// title: Fix CUDA softmax reduction for small block sizes
// condition: with fewer threads than a warp the shuffle reads 0 from inactive lanes; wrong when the true maximum is negative
// kind: small size
// when: cols < 32 and input in {negative, wide, equal}
// side: necessary
// wrong: NaN: the maximum is 0, all exponentials underflow

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { WARP = 32 };

static float shuffled_max(const float *x, int64_t cols)
{
    float lane[WARP] = {0}; /* the value of an inactive lane */
    for (int64_t t = 0; t < WARP && t < cols; t++) {
        lane[t] = x[t];
        for (int64_t c = t; c < cols; c += WARP)
            lane[t] = x[c] > lane[t] ? x[c] : lane[t];
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        for (int t = 0; t < offset; t++)
            lane[t] = lane[t + offset] > lane[t] ? lane[t + offset] : lane[t];
    return lane[0];
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        float *out = y + r * cols;
        const float scale = (float)(1.0 / row_exp(x + r * cols, out, cols, shuffled_max(x + r * cols, cols)));
        for (int64_t c = 0; c < cols; c++)
            out[c] *= scale;
    }
    return 0;
}
