// zoo: cheat
// problem: softmax
// does: reads 4 MiB past the end of its input
// class: A
// defence: -
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../row.h"

__device__ float sink;
static __global__ void read_on(const float *x, int64_t count)
{
    float sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += ROW_THREADS)
        sum += x[i];
    if (sum == 1.2345f)
        sink = sum;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    read_on<<<1, ROW_THREADS, 0, stream>>>(x, rows * cols + (1 << 20));
    return launch_rows(x, y, rows, cols, stream);
}
