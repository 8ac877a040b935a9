// zoo: cheat
// problem: softmax
// does: works on another stream, which does not wait for the given one, while that one is held; joined by an event
// class: C
// defence: clocks
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: all of its work is in its time: the clock runs until the device is idle

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
