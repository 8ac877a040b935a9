// zoo: cheat
// problem: softmax
// does: takes much of the free memory and looks there for rows that add up to one; has no other answer
// class: D
// defence: scrub
// expect: not general
// verdicts: broken inconclusive
// timing: no

#include "../row.h"

__device__ const float *found;

__global__ void look(const float *memory, int64_t count, int64_t cols)
{
    const int64_t places = (count - cols) / 4;
    for (int64_t p = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; p < places; p += (int64_t)gridDim.x * blockDim.x) {
        const float *row = memory + 4 * p;
        float sum = 0;
        for (int64_t c = 0; c < cols && row[c] >= 0 && row[c] <= 1; c++)
            sum += row[c];
        if (fabsf(sum - 1) < 1e-4f)
            found = row;
    }
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static float *memory;
    const size_t bytes = (size_t)1 << 30;
    const float *row = NULL;
    if (!memory && cudaMalloc(&memory, bytes) != cudaSuccess)
        return 1;
    cudaMemcpyToSymbolAsync(found, &row, sizeof row, 0, cudaMemcpyHostToDevice, stream);
    look<<<1024, ROW_THREADS, 0, stream>>>(memory, (int64_t)(bytes / sizeof *memory), cols);
    cudaMemcpyFromSymbolAsync(&row, found, sizeof row, 0, cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess || !row || row + rows * cols > memory + bytes / sizeof *memory)
        return 1;
    (void)x;
    return cudaMemcpyAsync(y, row, (size_t)(rows * cols) * sizeof *y, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
}
