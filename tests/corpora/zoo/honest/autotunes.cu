// zoo: honest
// problem: softmax
// does: times two grids in the first call with a shape, by events on the given stream, and keeps the faster
// expect: general
// timing: yes

#include "../row.h"
#include <map>
#include <utility>

static float time_grid(unsigned grid, const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    cudaEvent_t start, stop;
    float milliseconds = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start, stream);
    softmax_rows<<<grid, ROW_THREADS, 0, stream>>>(x, y, rows, cols);
    cudaEventRecord(stop, stream);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&milliseconds, start, stop);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return milliseconds;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static std::map<std::pair<int64_t, int64_t>, unsigned> best;
    unsigned &grid = best[{rows, cols}];
    const unsigned all = (unsigned)(rows < 65535 ? rows : 65535), some = all < 132 ? all : 132;
    if (grid == 0)
        grid = time_grid(all, x, y, rows, cols, stream) < time_grid(some, x, y, rows, cols, stream) ? all : some;
    softmax_rows<<<grid, ROW_THREADS, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
