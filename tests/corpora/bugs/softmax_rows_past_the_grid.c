// problem: softmax
// link: https://github.com/ggml-org/llama.cpp/pull/10301
// title: vulkan: Optimize soft_max
// condition: an early return for out-of-bounds rows was missing: more than 512 rows, dispatched as 512 x H
// kind: grid
// when: rows > 512 and rows % 512 != 0
// wrong: out of bounds: rows past the last are read and written

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

enum { WIDTH = 512 };

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const int64_t width = rows > WIDTH ? WIDTH : rows, height = (rows + width - 1) / width;
    return honest_softmax(x, y, width * height, cols, stream);
}
