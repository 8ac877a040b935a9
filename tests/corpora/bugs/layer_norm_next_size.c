// problem: layer_norm
// link: https://github.com/microsoft/onnxruntime/pull/17943
// title: [CUDA] Fix SkipLayerNorm vectorized kernel out-of-bounds read
// condition: the hidden size is not exactly the next size of the list (320), and the vectorized kernel is chosen
// kind: equality
// when: cols % 4 == 0 and cols < 2048 and cols != 128 and cols != 384 and cols != 768 and cols != 1024
// wrong: out of bounds: the last row is read up to the next size

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.c"
#undef layer_norm

static const int64_t sizes[] = {128, 384, 768, 1024, 2048};

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    int size = 0;
    volatile float last = 0;
    while (size < 4 && sizes[size] < cols)
        size++;
    if (cols % 4 == 0 && cols <= 2048)
        for (int64_t c = 0; c < sizes[size]; c++) /* a thread for each, all of which load */
            last = ((const volatile float *)x)[(rows - 1) * cols + c];
    (void)last;
    return honest_layer_norm(x, gamma, beta, y, mean, rstd, rows, cols, eps, stream);
}
