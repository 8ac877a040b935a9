// zoo: cheat
// problem: softmax
// does: gives its last answer again to the same pointers and shape
// class: B
// defence: fresh
// expect: not general
// verdicts: cheating
// timing: no

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    float *kept = kept_memory(bytes);
    if (!kept)
        return 1;
    if (same_in_a_row(x, rows, cols) == 2)
        return cudaMemcpyAsync(y, kept, bytes, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
    const int status = launch_rows(x, y, rows, cols, stream);
    cudaMemcpyAsync(kept, y, bytes, cudaMemcpyDeviceToDevice, stream);
    return status;
}
