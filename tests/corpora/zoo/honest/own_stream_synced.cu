// zoo: honest
// problem: softmax
// does: works on a non-blocking stream of its own and waits for it before it returns
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    if (!own && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    cudaStreamSynchronize(stream); /* earlier work of the caller */
    return launch_rows(x, y, rows, cols, own) || cudaStreamSynchronize(own) != cudaSuccess;
}
