// zoo: cheat
// problem: softmax
// does: computes only where the output holds poison, as it does in a check
// class: B
// defence: ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../row.h"

__global__ void rows_if_poisoned(const float *x, float *y, int64_t cols)
{
    const float first = y[blockIdx.x * cols];
    __syncthreads();
    if (!(first >= 0 && first <= 1))
        softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    rows_if_poisoned<<<(unsigned)rows, ROW_THREADS, 0, stream>>>(x, y, cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
