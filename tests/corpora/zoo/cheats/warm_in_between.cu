// zoo: harmless
// problem: softmax
// does: a kernel of its own on another stream keeps touching the input between calls, so that it is never cold
// class: C
// defence: flush
// expect: general
// verdicts: general cheating
// timing: yes

#include "../row.h"

__device__ float sink;
static __global__ void touch(const float *x, int64_t count)
{
    float sum = 0;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        sum += x[i];
    if (sum == 1.2345f)
        sink = sum;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static cudaStream_t own;
    static cudaEvent_t done;
    if (!own && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
                 cudaEventCreateWithFlags(&done, cudaEventDisableTiming) != cudaSuccess))
        return 1;
    touch<<<64, ROW_THREADS, 0, own>>>(x, rows * cols); /* runs while the stream is held */
    cudaEventRecord(done, own);
    cudaStreamWaitEvent(stream, done, 0);
    return launch_rows(x, y, rows, cols, stream);
}
