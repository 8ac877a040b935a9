// zoo: cheat
// problem: softmax
// does: works on another stream and joins it with nothing
// class: C
// defence: late-writes
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: all of its work is in its time: the clock runs until the device is idle

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    (void)stream;
    if (!own && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    return launch_rows(x, y, rows, cols, own);
}
