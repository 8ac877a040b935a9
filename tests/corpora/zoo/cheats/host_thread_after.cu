// zoo: cheat
// problem: softmax
// does: a thread of the host launches the work when the call has returned
// class: C
// defence: late-writes
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// open: a race with whoever reads the output

#include "../row.h"
#include <thread>

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    std::thread([=] {
        cudaStream_t own;
        if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess) {
            launch_rows(x, y, rows, cols, own);
            cudaStreamSynchronize(own);
            cudaStreamDestroy(own);
        }
    }).detach();
    (void)stream;
    return 0;
}
