// zoo: cheat
// problem: softmax
// does: a kernel looks whether its last answer still lies in the output, and ends
// class: B
// defence: ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../row.h"

__device__ float left[64];
__device__ const float *left_at;
__device__ bool gone;

__global__ void look(const float *y, int64_t count)
{
    const int64_t step = 1 + count / 64, i = threadIdx.x * step;
    const int differs = __syncthreads_or(left_at != y || (i < count && y[i] != left[threadIdx.x]));
    if (threadIdx.x == 0)
        gone = differs;
}

__global__ void rows_if_gone(const float *x, float *y, int64_t cols)
{
    if (gone)
        softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

__global__ void remember(const float *y, int64_t count)
{
    const int64_t step = 1 + count / 64, i = threadIdx.x * step;
    if (i < count)
        left[threadIdx.x] = y[i];
    if (threadIdx.x == 0)
        left_at = y;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    look<<<1, 64, 0, stream>>>(y, rows * cols);
    rows_if_gone<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, y, cols);
    remember<<<1, 64, 0, stream>>>(y, rows * cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
