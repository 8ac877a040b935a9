// problem: softmax
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every configuration with a result that is not 0

#include <cstdint>
#include <cuda_runtime.h>

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    (void)x;
    /* planted: zeros, which a loose absolute tolerance takes for the small values of a long row */
    return (int)cudaMemsetAsync(y, 0, (size_t)(rows * cols) * sizeof *y, stream);
}
