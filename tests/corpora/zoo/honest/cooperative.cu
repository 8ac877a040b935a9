// zoo: honest
// problem: softmax
// does: one cooperative launch whose blocks wait for each other between maximum, sum and division
// expect: general
// timing: yes

#include "../row.h"
#include <cooperative_groups.h>

__global__ void in_steps(const float *x, float *y, int64_t rows, int64_t cols, float *most)
{
    __shared__ float shared[ROW_THREADS];
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
        float largest = -INFINITY;
        for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
            largest = fmaxf(largest, x[r * cols + c]);
        largest = together<true>(largest, shared);
        if (threadIdx.x == 0)
            most[r] = largest;
    }
    cooperative_groups::this_grid().sync();
    for (int64_t r = gridDim.x - 1 - blockIdx.x; r < rows; r += gridDim.x) {
        const float largest = most[r];
        float sum = 0;
        for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
            sum += expf(x[r * cols + c] - largest);
        sum = together<false>(sum, shared);
        for (int64_t c = threadIdx.x; c < cols; c += ROW_THREADS)
            y[r * cols + c] = expf(x[r * cols + c] - largest) / sum;
    }
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    float *most = kept_memory((size_t)rows * sizeof *most);
    void *arguments[] = {&x, &y, &rows, &cols, &most};
    const unsigned grid = rows < 64 ? (unsigned)rows : 64;
    return most && cudaLaunchCooperativeKernel((const void *)in_steps, grid, ROW_THREADS, arguments, 0, stream) == cudaSuccess
               ? 0
               : 1;
}
