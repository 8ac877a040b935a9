// zoo: honest
// problem: softmax
// does: stages its sizes through pinned memory of the host
// expect: general
// timing: yes

#include "../row.h"

__global__ void rows_of(const float *x, float *y, const int64_t *sizes)
{
    for (int64_t r = blockIdx.x; r < sizes[0]; r += gridDim.x)
        softmax_row(x + r * sizes[1], y + r * sizes[1], sizes[1]);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static int64_t *pinned, *sizes;
    static cudaEvent_t taken;
    if (!sizes && (cudaMallocHost(&pinned, 2 * sizeof *pinned) != cudaSuccess ||
                   cudaMalloc(&sizes, 2 * sizeof *sizes) != cudaSuccess ||
                   cudaEventCreateWithFlags(&taken, cudaEventDisableTiming) != cudaSuccess))
        return 1;
    cudaEventSynchronize(taken);
    pinned[0] = rows;
    pinned[1] = cols;
    cudaMemcpyAsync(sizes, pinned, 2 * sizeof *sizes, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(taken, stream);
    rows_of<<<(unsigned)(rows < 1024 ? rows : 1024), ROW_THREADS, 0, stream>>>(x, y, sizes);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
