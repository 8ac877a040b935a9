// zoo: honest
// problem: softmax
// does: takes its workspace from the stream-ordered pool and gives it back in every call
// expect: general
// timing: yes

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float *room = NULL;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (cudaMallocAsync(&room, bytes, stream) != cudaSuccess || launch_rows(x, room, rows, cols, stream))
        return 1;
    cudaMemcpyAsync(y, room, bytes, cudaMemcpyDeviceToDevice, stream);
    return cudaFreeAsync(room, stream) != cudaSuccess;
}
