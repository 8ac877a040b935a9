// zoo: honest
// problem: softmax
// does: gives half of the rows to a stream of its own, forked from the given one and joined by events
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    static cudaEvent_t fork, join;
    const int64_t half = rows / 2;
    if (!own && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
                 cudaEventCreateWithFlags(&fork, cudaEventDisableTiming) != cudaSuccess ||
                 cudaEventCreateWithFlags(&join, cudaEventDisableTiming) != cudaSuccess))
        return 1;
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(own, fork, 0);
    if (half > 0 && launch_rows(x, y, half, cols, own))
        return 1;
    cudaEventRecord(join, own);
    if (launch_rows(x + half * cols, y + half * cols, rows - half, cols, stream))
        return 1;
    return cudaStreamWaitEvent(stream, join, 0) != cudaSuccess;
}
