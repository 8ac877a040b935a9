// zoo: cheat
// problem: softmax
// does: resets the device after its work, and with it all that others have there
// class: D
// defence: -
// expect: not general
// verdicts: broken inconclusive
// timing: no

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const int status = launch_rows(x, y, rows, cols, stream);
    cudaDeviceSynchronize();
    cudaDeviceReset();
    return status;
}
