// zoo: honest
// problem: softmax
// does: keeps a workspace between calls and lets it grow
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    float *room = kept_memory(bytes);
    if (!room || launch_rows(x, room, rows, cols, stream))
        return 1;
    return cudaMemcpyAsync(y, room, bytes, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
}
