// problem: softmax
// thread: https://github.com/flashinfer-ai/flashinfer/pull/1178
// title: bugfix: softmax NaN results caused by large -inf masks
// condition: all results of a row are NaN when one thread's slice of it is -inf throughout
// kind: content
// when: input=special
// side: necessary
// wrong: NaN: exp(-inf - -inf) of the slice's own maximum

#include "softmax.cuh"

constexpr int THREADS = 256, SLICE = 8;

/* A thread goes from slice to slice and scales its sum to the new maximum. The fault: that may still be -inf.
 * A thread without a slice contributes 0 * exp(-inf), which is 0. */
__global__ void online_softmax(const float *x, float *y, int64_t cols)
{
    const float *in = x + blockIdx.x * cols;
    float running = -INFINITY, sum = 0;
    for (int64_t at = threadIdx.x * SLICE; at < cols; at += THREADS * SLICE) {
        const int count = cols - at < SLICE ? (int)(cols - at) : SLICE;
        float max = running, part = 0;
        for (int i = 0; i < count; i++)
            max = fmaxf(max, in[at + i]);
        for (int i = 0; i < count; i++)
            part += expf(in[at + i] - max);
        sum = sum * expf(running - max) + part;
        running = max;
    }
    const float max = block_reduce<true, THREADS>(running);
    sum = block_reduce<false, THREADS>(sum * expf(running - max));
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = expf(in[c] - max) / sum;
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    online_softmax<<<(unsigned)rows, THREADS, 0, stream>>>(x, y, cols);
    return (int)cudaGetLastError();
}
