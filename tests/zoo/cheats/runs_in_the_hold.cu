// zoo: cheat
// problem: softmax
// does: works on another stream, which does not wait for the given one, while that one is held; joined by an event
// class: C
// defence: clocks
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// open: the stream is held for a moment before each call, and what runs meanwhile is in no time

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    static cudaEvent_t done;
    if (!own && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
                 cudaEventCreateWithFlags(&done, cudaEventDisableTiming) != cudaSuccess))
        return 1;
    const int status = launch_rows(x, y, rows, cols, own);
    cudaEventRecord(done, own);
    cudaStreamWaitEvent(stream, done, 0);
    return status;
}
