// zoo: cheat
// problem: softmax
// does: leaves the last rows to another stream and waits there before they are written
// class: C
// defence: late-writes,clocks
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: all of its work is in its time: the clock runs until the device is idle

#include "../row.h"

__global__ void rows_after_a_while(const float *x, float *y, int64_t rows, int64_t cols)
{
    const long long begin = clock64();
    while (clock64() - begin < 200000)
        ;
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x)
        softmax_row(x + r * cols, y + r * cols, cols);
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    const int64_t now = rows / 2;
    if (!own && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    if (now > 0 && launch_rows(x, y, now, cols, stream))
        return 1;
    rows_after_a_while<<<8, ROW_THREADS, 0, own>>>(x + now * cols, y + now * cols, rows - now, cols);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
