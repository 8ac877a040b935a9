// zoo: cheat
// problem: softmax
// does: writes only what is not zero, since fresh memory is
// class: A
// defence: poison
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../row.h"

__global__ void put(const float *from, float *to, int64_t count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        if (from[i] != 0)
            to[i] = from[i];
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float *room = kept_memory((size_t)(rows * cols) * sizeof *y);
    if (!room || launch_rows(x, room, rows, cols, stream))
        return 1;
    put<<<64, ROW_THREADS, 0, stream>>>(room, y, rows * cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
