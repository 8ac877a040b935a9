// zoo: cheat
// problem: softmax
// does: leaves a kernel that never ends on another stream
// class: D
// defence: -
// expect: not general
// verdicts: broken inconclusive cheating
// timing: no
// slow: it waits
// options: --timeout 2

#include "../row.h"

__device__ volatile int stop;
__global__ void spin()
{
    while (!stop)
        ;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    if (!own && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess)
        spin<<<1, 1, 0, own>>>();
    return launch_rows(x, y, rows, cols, stream);
}
