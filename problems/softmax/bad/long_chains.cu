// problem: softmax
// verdict: specialized
// fault: serial fp32 sum in 32 chains
// outcomes: wrong
// when: input=digits and cols > 131072 or cols > 524288 and input!=equal and input!=extreme and input!=wide
// shows: cols > 146000 where a large term comes before very many small ones

#include <cstdint>
#include <cuda_runtime.h>

/* planted: one warp per row, so a lane adds cols / 32 terms one by one. At the published lengths
 * that is accurate enough; at 2^20 columns the chain of a large term loses the small ones */
__global__ void row_softmax(const float *x, float *y, int64_t cols)
{
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += 32)
        max = fmaxf(max, in[c]);
    for (int lane = 16; lane > 0; lane /= 2)
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, lane));
    for (int64_t c = threadIdx.x; c < cols; c += 32)
        sum += expf(in[c] - max);
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    for (int64_t c = threadIdx.x; c < cols; c += 32)
        out[c] = expf(in[c] - max) / sum;
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)rows, 32, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
