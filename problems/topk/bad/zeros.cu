// problem: topk
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every row but one of a single zero

#include <cstdint>
#include <cuda_runtime.h>

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    /* planted: nothing is looked at */
    cudaMemsetAsync(values, 0, (size_t)(rows * k) * sizeof *values, stream);
    cudaMemsetAsync(indices, 0, (size_t)(rows * k) * sizeof *indices, stream);
    return (int)cudaGetLastError();
}
