// zoo: honest
// problem: softmax
// does: a thread of the host launches the work, and is joined before the call returns
// expect: general
// timing: yes

#include "../row.h"
#include <thread>

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    int status = 1, device = 0;
    cudaGetDevice(&device);
    std::thread([&] {
        cudaSetDevice(device);
        status = launch_rows(x, y, rows, cols, stream);
    }).join();
    return status;
}
